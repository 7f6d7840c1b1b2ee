// A simulated PLC whose client is the test: every byte it is asked is written by hand.
#pragma once

#include "protocols/s7/simulator/server_engine.hpp"
#include "tests/unit/s7/scripted_peer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::s7::test {

inline signal_config signal(std::string_view where, std::string_view type, signal_kind kind,
                            double minimum, double maximum, transport::duration period,
                            std::string text = {}) {
    signal_config out;
    EXPECT_FALSE(parse_address(where, out.where)) << where;
    EXPECT_FALSE(parse_data_type(type, out.type)) << type;
    out.kind = kind;
    out.minimum = minimum;
    out.maximum = maximum;
    out.period = period;
    out.text = std::move(text);
    return out;
}

inline simulator_config with_signals(std::vector<signal_config> signals) {
    simulator_config config;
    config.data_blocks = {{1, 256}};
    config.signals = std::move(signals);
    return config;
}

/// A simulated PLC whose client is the test.
struct asked_plc {
    explicit asked_plc(const simulator_config& config = with_signals({}),
                       fault_hook* faults = nullptr, transport::timing_wheel* wheel = nullptr)
        : plc(config, clock, faults, wheel), server(plc), wire(server, clock) {
        wire.open();
    }
    ~asked_plc() { wire.close(transport::close_reason::shutting_down); }

    void connect(std::uint16_t jobs = 8, std::uint16_t pdu_size = 960) {
        wire.receive(hex("0300001611e00000000100c1020100c2020102c0010a"));
        bytes setup(64);
        setup.resize(encode_setup_request(setup, 1, {jobs, jobs, pdu_size}));
        wire.receive(packet(setup));
        wire.take_sent();
    }

    void ask(std::string_view pdu) { wire.receive(packet(hex(pdu))); }

    /// The PDUs sent since the last call.
    std::vector<std::string> answers() {
        std::vector<std::string> out;
        for (const bytes& pdu : pdus_in(wire.take_sent())) {
            out.push_back(to_hex(pdu));
        }
        return out;
    }

    transport::manual_clock clock;
    simulated_plc plc;
    server_engine server;
    fake_driver wire;
};

inline constexpr std::string_view read_one_byte =
    "32010000 0005 000e0000 0401 120a10020001000083000000";
using lines = std::vector<std::string>;

}  // namespace tagferry::s7::test
