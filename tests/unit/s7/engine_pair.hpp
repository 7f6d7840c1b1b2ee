// The client engine joined to the simulator's, in memory, on a clock moved by hand.
#pragma once

#include "protocols/s7/simulator/server_engine.hpp"
#include "tests/unit/s7/support.hpp"

#include <string>

namespace tagferry::s7::test {

inline simulator_config plc_config(std::string profile) {
    simulator_config config;
    config.profile = std::move(profile);
    config.data_blocks = {{1, 4096}, {2, 200}};
    return config;
}

inline client_options options_of(std::size_t pdu, std::size_t jobs) {
    client_options options;
    options.pdu_size = pdu;
    options.max_jobs = jobs;
    return options;
}

/// One client and one simulated PLC, joined by a wire that cuts where it is told.
struct engine_pair {
    engine_pair(const simulator_config& config, const client_options& options,
                fault_hook* faults = nullptr)
        : pool({"s7_test", options.pdu_size + envelope_size,
                options.max_jobs + options.queued_jobs + 1}),
          client(options, pool, observer),
          plc(config, clock, faults),
          server(plc),
          client_side(client, clock),
          server_side(server, clock) {}

    ~engine_pair() {
        client_side.close(transport::close_reason::shutting_down);
        server_side.close(transport::close_reason::shutting_down);
    }

    void open() {
        server_side.open();
        client_side.open();
        run();
    }

    /// Carries bytes both ways until nothing moves.
    void run() {
        for (bool moved = true; moved;) {
            client_side.turn();
            server_side.turn();
            moved = carry(client_side, server_side);
            moved = carry(server_side, client_side) || moved;
            pass_close(client_side, server_side);
            pass_close(server_side, client_side);
        }
    }

    bool carry(fake_driver& from, fake_driver& to) {
        if (from.sent.empty()) {
            return false;
        }
        const std::size_t step = cut == 0 ? from.sent.size() : cut;
        for (std::size_t at = 0; at < from.sent.size(); at += step) {
            to.receive(std::span(from.sent).subspan(at, std::min(step, from.sent.size() - at)));
        }
        from.sent.clear();
        return true;
    }

    static void pass_close(fake_driver& from, fake_driver& to) {
        if (!from.is_open() && to.is_open()) {
            to.close(transport::close_reason::peer_closed);
        }
    }

    void advance(transport::duration step) {
        clock.advance(step);
        client_side.expire();
        server_side.expire();
        run();
    }

    std::size_t cut = 0;
    transport::manual_clock clock;
    recording_observer observer;
    transport::pinned_pool pool;
    client_engine client;
    simulated_plc plc;
    server_engine server;
    fake_driver client_side;
    fake_driver server_side;
};

}  // namespace tagferry::s7::test
