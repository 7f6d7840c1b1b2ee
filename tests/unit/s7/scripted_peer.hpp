// A client engine whose peer is the test: every byte the PLC says is written by hand.
#pragma once

#include "protocols/s7/wire/message.hpp"
#include "protocols/s7/wire/tpkt.hpp"
#include "protocols/s7/wire/variables.hpp"
#include "tests/unit/s7/support.hpp"

#include <array>
#include <span>
#include <string_view>

namespace tagferry::s7::test {

/// A PDU in one data TPDU.
inline bytes packet(std::span<const std::byte> pdu) {
    bytes out(envelope_size);
    put_data_header(std::span(out).first<envelope_size>(), pdu.size(), true);
    out.insert(out.end(), pdu.begin(), pdu.end());
    return out;
}

/// A PDU cut into data TPDUs of `size` payload bytes.
inline bytes fragments(std::span<const std::byte> pdu, std::size_t size) {
    bytes out;
    while (!pdu.empty()) {
        const auto part = pdu.first(std::min(size, pdu.size()));
        pdu = pdu.subspan(part.size());
        bytes header(envelope_size);
        put_data_header(std::span(header).first<envelope_size>(), part.size(), pdu.empty());
        out.insert(out.end(), header.begin(), header.end());
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

/// The PDUs in what an engine sent, fragments joined.
inline std::vector<bytes> pdus_in(std::span<const std::byte> stream) {
    std::vector<bytes> out(1);
    while (!stream.empty()) {
        const auto frame = find_tpkt_frame(stream, 65535);
        cotp_tpdu tpdu;
        if (frame.state != frame_state::complete ||
            !decode_cotp(stream.subspan(tpkt_header_size, frame.size - tpkt_header_size), tpdu)) {
            break;
        }
        out.back().insert(out.back().end(), tpdu.payload.begin(), tpdu.payload.end());
        if (tpdu.end_of_tsdu) {
            out.emplace_back();
        }
        stream = stream.subspan(frame.size);
    }
    out.pop_back();
    return out;
}

/// The reply to a read of one item that brings `value`.
inline bytes read_reply(std::uint16_t reference, std::span<const std::byte> value) {
    bytes room(2048);
    read_reply_builder builder(room, reference, 1);
    const auto to = builder.succeed(
        byte_variable(area::memory, 0, 0, static_cast<std::uint16_t>(value.size())));
    std::copy(value.begin(), value.end(), to.begin());
    room.resize(builder.finish());
    return room;
}

inline client_options small_options(std::size_t window = 4, std::size_t pdu = 240) {
    client_options options;
    options.pdu_size = pdu;
    options.max_jobs = window;
    options.queued_jobs = 4;
    options.remote_tsap = 0x0102;
    return options;
}

struct scripted {
    explicit scripted(const client_options& with = small_options())
        : options(with),
          pool({"s7_test", options.pdu_size + envelope_size,
                options.max_jobs + options.queued_jobs + 1}),
          client(options, pool, observer),
          wire(client, clock) {}
    ~scripted() { wire.close(transport::close_reason::shutting_down); }

    /// Connects and negotiates what the options ask for.
    void handshake(std::string_view confirm = "0300001611d00001000300c0010ac1020100c2020102") {
        wire.open();
        wire.receive(hex(confirm));
        wire.receive(packet(setup_reply(static_cast<std::uint16_t>(options.max_jobs),
                                        static_cast<std::uint16_t>(options.pdu_size))));
        wire.take_sent();
    }

    static bytes setup_reply(std::uint16_t jobs, std::uint16_t pdu_size) {
        bytes room(64);
        room.resize(encode_setup_reply(room, 0xFFFF, {jobs, jobs, pdu_size}));
        return room;
    }

    /// Submits a read of four bytes; its tag and value are `tag`.
    bool read(std::uint64_t tag) {
        const bool taken = client.submit_read(
            tag,
            std::array{byte_variable(area::memory, 0, static_cast<std::uint32_t>(tag) * 4, 4)});
        wire.turn();
        return taken;
    }

    bool write(std::uint64_t tag) {
        const bytes value(2);
        const bool taken = client.submit_write(
            tag, std::array{write_item{byte_variable(area::memory, 0, 0, 2), value}});
        wire.turn();
        return taken;
    }

    /// References of the jobs sent since the last call, in order.
    std::vector<std::uint16_t> references() {
        std::vector<std::uint16_t> out;
        for (const bytes& pdu : pdus_in(wire.take_sent())) {
            s7_message message;
            if (decode_message(pdu, message)) {
                out.push_back(message.reference);
            }
        }
        return out;
    }

    void pass(transport::duration time) {
        clock.advance(time);
        wire.expire();
    }

    const link_event& last_event() const { return observer.events.back(); }

    client_options options;
    transport::manual_clock clock;
    recording_observer observer;
    transport::pinned_pool pool;
    client_engine client;
    fake_driver wire;
};

}  // namespace tagferry::s7::test
