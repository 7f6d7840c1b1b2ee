#!/usr/bin/env python3
"""Writes the golden S7 conversations of this folder from captures of real PLCs.

    generate.py CAPTURES            writes the conversations and the fuzz seeds made from them
    generate.py --check CAPTURES    changes nothing; fails when what is committed would change

The captures are not part of the project. Where they are absent, --check says so and ends with
77: then what is committed is only replayed, by the unit tests. Packets are taken out of the
captures by tshark; the explanation of the bytes is this file's own reading of the protocol, so
that the engine is judged by a second decoder.
"""
import hashlib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "fuzz" / "s7" / "corpus"
SKIPPED = 77

# Name, capture, what it is, and how many reads of several items are kept.
CONVERSATIONS = [
    ("libnodave_s7_300", "iti_s7comm_varservice_libnodavedemo.pcap",
     "libnodave's demo against an S7-300: connect, read, write, read again", None),
    ("plc4x_s7_1200", "plc4x-s7-manual-test-capture.pcapng",
     "Apache PLC4X against an S7-1200: every type alone, then 19 items at once", 3),
    ("snap7_s7_300", "snap7_s300_everything.pcapng",
     "snap7 against an S7-300: reads and writes of five areas, two writes refused", None),
]

FUNCTIONS = {0x04: "read variable", 0x05: "write variable", 0xF0: "setup communication"}
AREAS = {0x1C: "counters", 0x1D: "timers", 0x81: "inputs", 0x82: "outputs", 0x83: "memory",
         0x84: "data block"}
TYPES = {0x01: "BIT", 0x02: "BYTE", 0x03: "CHAR", 0x04: "WORD", 0x05: "INT", 0x06: "DWORD",
         0x07: "DINT", 0x08: "REAL", 0x13: "WCHAR", 0x1C: "COUNTER", 0x1D: "TIMER"}
CODES = {0xFF: "success", 0x00: "to be written", 0x03: "access denied", 0x05: "out of range",
         0x06: "type not supported", 0x07: "type mismatch", 0x0A: "no such object"}
BIT_LENGTHS = {0x03, 0x04, 0x05}


def u16(data, at):
    return data[at] << 8 | data[at + 1]


class Explainer:
    """Turns one packet into lines of hex and words."""

    def __init__(self, packet):
        self.data = packet
        self.at = 0
        self.lines = []

    def take(self, count, words):
        part = self.data[self.at:self.at + count]
        assert len(part) == count, "packet ends early"
        self.lines.append("  %s  | %s" % (part.hex(" "), words))
        self.at += count
        return part

    def explain(self):
        self.take(4, "TPKT: version 3, %d bytes in all" % u16(self.data, 2))
        kind = self.data[5]
        if kind in (0xE0, 0xD0):
            self.connect(kind)
        else:
            assert kind == 0xF0
            number = self.data[6] & 0x7F
            self.take(3, "COTP data, end of the message" +
                      (", TPDU number %d (ignored)" % number if number else ""))
            self.message()
        assert self.at == len(self.data), "bytes left over"
        return self.lines

    def connect(self, kind):
        name = "request" if kind == 0xE0 else "confirm"
        self.take(2, "COTP connect %s, %d header bytes follow the first" % (name, self.data[4]))
        self.take(2, "destination reference %d" % u16(self.data, self.at))
        self.take(2, "source reference %d" % u16(self.data, self.at))
        self.take(1, "class 0, no options")
        while self.at < len(self.data):
            tag, size = self.data[self.at], self.data[self.at + 1]
            value = self.data[self.at + 2:self.at + 2 + size]
            words = {0xC0: "TPDU size %d bytes" % (1 << value[0]),
                     0xC1: "calling TSAP %s" % value.hex(),
                     0xC2: "called TSAP %s" % value.hex()}[tag]
            self.take(2 + size, words)

    def message(self):
        kind = self.data[self.at + 1]
        names = {1: "job", 2: "ack", 3: "ack with data"}
        self.take(4, "S7 %s" % names[kind])
        self.take(2, "reference, echoed by the PLC")
        parameter_size, data_size = u16(self.data, self.at), u16(self.data, self.at + 2)
        self.take(4, "%d bytes of parameters, %d of data" % (parameter_size, data_size))
        if kind in (2, 3):
            self.take(2, "error class and code")
        if parameter_size == 0:
            return
        function = self.data[self.at]
        if function == 0xF0:
            self.take(2, "setup communication")
            self.take(2, "jobs in flight from the caller: %d" % u16(self.data, self.at))
            self.take(2, "jobs in flight to the caller: %d" % u16(self.data, self.at))
            self.take(2, "PDU size %d bytes" % u16(self.data, self.at))
            return
        count = self.data[self.at + 1]
        self.take(2, "%s, %d item%s" % (FUNCTIONS[function], count, "" if count == 1 else "s"))
        if kind == 1:
            for _ in range(count):
                self.item()
        if function == 0x05 and kind == 3:
            for _ in range(count):
                self.take(1, CODES[self.data[self.at]])
        elif data_size:
            self.values(count)

    def item(self):
        item = self.data[self.at:self.at + 12]
        address = item[9] << 16 | item[10] << 8 | item[11]
        area = AREAS[item[8]]
        if item[8] == 0x84:
            area += " %d" % u16(item, 6)
        where = ("from %d" % address if item[8] in (0x1C, 0x1D) else
                 "byte %d bit %d" % (address >> 3, address & 7))
        self.take(12, "%d %s of %s, %s" % (u16(item, 4), TYPES[item[3]], area, where))

    def values(self, count):
        for index in range(count):
            code, kind, length = self.data[self.at], self.data[self.at + 1], u16(self.data,
                                                                                 self.at + 2)
            size = (length + 7) // 8 if kind in BIT_LENGTHS else length
            if code not in (0x00, 0xFF):
                size = 0
            unit = "bits" if kind in BIT_LENGTHS else "bytes"
            self.take(4, "%s, data type %02x, %d %s" % (CODES[code], kind, length, unit))
            if size:
                self.take(size, "value")
            if index + 1 < count and size % 2:
                self.take(1, "fill byte between items")


def packets_of(capture):
    """(frame number, from the client?, packet) of every TPKT packet, retransmissions left out."""
    out = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", "tcp.len > 0 && !tcp.analysis.retransmission", "-T",
         "fields", "-e", "frame.number", "-e", "tcp.dstport", "-e", "tcp.payload"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for line in out.splitlines():
        number, port, payload = line.split("\t")
        data = bytes.fromhex(payload)
        while data:
            size = u16(data, 2)
            yield int(number), port == "102", data[:size]
            data = data[size:]


def wanted(packet):
    """The part of the protocol this room speaks: connect, setup, read, write."""
    if packet[5] in (0xE0, 0xD0):
        return True
    if packet[5] != 0xF0 or len(packet) < 17 or packet[7] != 0x32 or packet[8] not in (1, 3):
        return False
    return packet[17 if packet[8] == 1 else 19] in FUNCTIONS


def items_in(packet):
    return packet[18] if packet[8] == 1 and packet[17] == 0x04 else 1


def conversation(name, capture, title, several):
    digest = hashlib.sha256(capture.read_bytes()).hexdigest()
    lines = ["# %s." % (title[0].upper() + title[1:]),
             "# From %s, SHA-256" % capture.name, "# %s." % digest,
             "# Written by generate.py: do not edit. '>' the client asks, '<' the PLC answers; the",
             "# number is that of the frame in the capture.", ""]
    kept = []
    dropped = set()
    for number, asks, packet in packets_of(capture):
        if not wanted(packet):
            continue
        if packet[5] == 0xF0:
            reference = u16(packet, 11)
            if asks and items_in(packet) > 5 and several is not None:
                several -= 1
                if several < 0:
                    dropped.add(reference)
            if reference in dropped:
                continue
        kept.append((asks, packet))
        lines.append("%s %d" % (">" if asks else "<", number))
        lines += Explainer(packet).explain()
        lines.append("")
    return "\n".join(lines), kept


def seeds_from(name, kept):
    """Fuzz seeds: each packet for the wire; each side's stream for the engine that hears it."""
    seeds = {}
    for index, (asks, packet) in enumerate(kept[:24]):
        seeds["fuzz_s7_wire/%s_%02d" % (name, index)] = packet
    asked = b"".join(packet for asks, packet in kept[:24] if asks)
    answered = b"".join(packet for asks, packet in kept[:24] if not asks)
    # The engines' fuzzers read steps: one byte of what to do, one of how many bytes, the bytes.
    seeds["fuzz_s7_simulator/%s" % name] = steps(asked)
    seeds["fuzz_s7_client_engine/%s" % name] = steps(answered)
    return seeds


def steps(stream):
    out = b""
    while stream:
        part, stream = stream[:255], stream[255:]
        out += bytes([0, len(part)]) + part
    return out


def main():
    check = sys.argv[1:2] == ["--check"]
    arguments = sys.argv[2:] if check else sys.argv[1:]
    if len(arguments) != 1:
        print(__doc__)
        return 64
    captures = pathlib.Path(arguments[0])
    missing = [c for _, c, _, _ in CONVERSATIONS if not (captures / c).exists()]
    if missing:
        print("the captures are not here (%s): only what is committed is replayed" % missing[0])
        return SKIPPED if check else 66
    files = {}
    for name, capture, title, several in CONVERSATIONS:
        text, kept = conversation(name, captures / capture, title, several)
        files[HERE / (name + ".txt")] = text.encode()
        for seed, data in seeds_from(name, kept).items():
            files[CORPUS / seed] = data
    wrong = 0
    for path, content in files.items():
        if check:
            if not path.exists() or path.read_bytes() != content:
                print("%s would change" % path)
                wrong = 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
