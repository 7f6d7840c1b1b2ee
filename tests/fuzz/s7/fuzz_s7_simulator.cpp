// The simulator's engine on any input, with latency and every fault of the catalogue. What it says
// is always whole packets that our own decoders take; only a reset leaves the last one unfinished.
#include "protocols/s7/simulator/fault_script.hpp"
#include "protocols/s7/simulator/server_engine.hpp"
#include "protocols/s7/wire/tpkt.hpp"
#include "tests/fuzz/s7/steps.hpp"
#include "tests/unit/s7/support.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <tuple>
#include <vector>

namespace {

using namespace tagferry::s7;
using namespace std::chrono_literals;

simulator_config config() {
    simulator_config wanted;
    wanted.profile = "s7-1200";
    wanted.data_blocks = {{1, 300}, {4, 1024}};
    wanted.latency = 5ms;
    wanted.tpdu_size = 256;
    for (const auto& [where, type, kind] :
         {std::tuple{"DB1.DBD0", "REAL", signal_kind::sine},
          std::tuple{"DB1.DBX4.1", "BOOL", signal_kind::toggle},
          std::tuple{"DB1.DBB6", "STRING[10]", signal_kind::text},
          std::tuple{"DB4.DBB0", "ARRAY[0..99] OF DINT", signal_kind::counter}}) {
        signal_config signal;
        if (parse_address(where, signal.where) || parse_data_type(type, signal.type)) {
            std::abort();
        }
        signal.kind = kind;
        signal.maximum = 1000;
        signal.text = "batch";
        wanted.signals.push_back(signal);
    }
    return wanted;
}

/// The upper bits of the first byte choose a fault of the catalogue, or none; it is met at once.
std::vector<scripted_fault> script_for(std::uint8_t choice) {
    const auto catalogue = fault_catalogue();
    if (choice == 0 || choice > catalogue.size()) {
        return {};
    }
    scripted_fault fault = catalogue[choice - 1U].usual;
    fault.every = std::min(fault.every, 3U);
    fault.start = tagferry::transport::duration::zero();
    return {fault};
}

/// Takes the whole packets at the front of what was sent; a dribbled one may still be coming.
void check_sent(std::vector<std::byte>& unread, std::span<const std::byte> more) {
    unread.insert(unread.end(), more.begin(), more.end());
    std::span<const std::byte> sent = unread;
    std::vector<std::byte> buffer(largest_pdu);
    fragment_joiner joiner(buffer, {.max_pdu = largest_pdu});
    while (!sent.empty()) {
        const auto frame = find_tpkt_frame(sent, largest_pdu + envelope_size);
        cotp_tpdu tpdu;
        if (frame.state == frame_state::incomplete) {
            break;
        }
        if (frame.state != frame_state::complete ||
            !decode_cotp(sent.subspan(tpkt_header_size, frame.size - tpkt_header_size), tpdu)) {
            std::abort();
        }
        s7_message message;
        if (tpdu.type == cotp_type::data &&
            joiner.add(tpdu) == fragment_joiner::outcome::complete &&
            !decode_message(joiner.pdu(), message)) {
            std::abort();
        }
        sent = sent.subspan(frame.size);
    }
    if (joiner.pending() && sent.empty()) {
        std::abort();
    }
    unread.erase(unread.begin(), unread.end() - static_cast<std::ptrdiff_t>(sent.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    tagferry::transport::manual_clock clock;
    constexpr unsigned action_bits = 3;
    const auto script =
        script_for(size == 0 ? 0 : static_cast<std::uint8_t>(data[0] >> action_bits));
    scripted_faults scripted(script, clock.now());
    manual_faults faults(&scripted);
    simulated_plc plc(config(), clock, &faults);
    server_engine server(plc);
    test::fake_driver wire(server, clock);
    std::vector<std::byte> unread;
    wire.open();
    std::uint64_t connections = plc.counters().connections;
    test::for_each_step(data, size, [&](std::uint8_t what, std::span<const std::byte> bytes) {
        switch (what % 8) {
            case 1:
                faults.be_silent(!bytes.empty());
                break;
            case 2:
                faults.delay_jobs(std::chrono::milliseconds(bytes.size()));
                break;
            case 3:
                wire.close(tagferry::transport::close_reason::peer_closed);
                wire.open();
                break;
            case 4:
                plc.drop_connections();
                wire.turn();
                break;
            case 5:
                wire.hold_reports = !wire.hold_reports;
                wire.report_all();
                break;
            case 6:
                wire.close(tagferry::transport::close_reason::peer_closed);
                wire.open();
                wire.receive(test::hex("0300001611e00000000100c1020100c2020102c00109"));
                wire.receive(test::hex("0300001902f08032010000ffff00080000f000000100010780"));
                break;
            default:
                wire.receive(bytes);
                break;
        }
        clock.advance(5ms);
        wire.expire();
        const auto sent = wire.take_sent();
        if (wire.is_open() && connections == plc.counters().connections) {
            check_sent(unread, sent);
        } else {
            unread.clear();
        }
        connections = plc.counters().connections;
    });
    wire.close(tagferry::transport::close_reason::shutting_down);
    if (plc.connection_count() != 0) {
        std::abort();
    }
    return 0;
}
