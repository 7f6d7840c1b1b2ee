// S7 jobs in steady state allocate nothing: planned reads and writes of the client engine against
// the simulator's engine, in memory, 10,000 of each, with decoding into value slots.
#include "protocols/s7/client_engine.hpp"
#include "protocols/s7/session/read_plan.hpp"
#include "protocols/s7/simulator/server_engine.hpp"
#include "protocols/s7/types/codec.hpp"
#include "tests/allocation/allocation_gate.hpp"
#include "tests/unit/s7/support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <vector>

namespace tagferry::allocation {
namespace {

using namespace s7;
using namespace std::chrono_literals;

constexpr std::uint64_t warm_up = 1000;
constexpr std::uint64_t measured = 10'000;
constexpr std::size_t value_count = 2000;

simulator_config plc_config() {
    simulator_config config;
    config.data_blocks = {{1, 16'000}};
    for (std::uint32_t i = 0; i < 100; ++i) {
        signal_config signal;
        signal.where = {area::data_block, 1, i * 80, 0, false};
        signal.type.base = base_type::real;
        signal.kind = i % 2 == 0 ? signal_kind::ramp : signal_kind::sine;
        config.signals.push_back(signal);
    }
    signal_config text;
    text.where = {area::data_block, 1, 15'000, 0, false};
    text.type = {base_type::string, false, 1, 0, 20};
    text.kind = signal_kind::text;
    text.text = "batch";
    config.signals.push_back(text);
    return config;
}

/// Scans the plan over and over, writing once in a while, and decodes what comes.
class scanner final : public client_observer {
  public:
    scanner() {
        std::vector<wanted_item> wanted;
        for (std::uint32_t i = 0; i < value_count; ++i) {
            wanted.push_back({area::data_block, 1, i * 7, 4, 4, false});
        }
        plan_.build(wanted, {.pdu_size = 960});
        server_wire_.open();
        client_wire_.open();
        carry();
    }
    ~scanner() {
        client_wire_.close(transport::close_reason::shutting_down);
        server_wire_.close(transport::close_reason::shutting_down);
    }

    void run(std::uint64_t jobs) {
        const std::uint64_t until = finished_ + jobs;
        while (finished_ < until) {
            while (client_.free_slots() != 0) {
                submit();
            }
            client_wire_.turn();
            carry();
            clock_.advance(1ms);
        }
    }

    void link_changed(const link_event& event) override {
        // Until the end, when this side closes it.
        EXPECT_EQ(event.reason,
                  event.state == link_state::down ? link_reason::requested : link_reason::none);
    }
    void job_finished(const job_result& result) override {
        ++finished_;
        ASSERT_EQ(result.outcome, job_outcome::answered);
        if (result.kind == job_kind::write) {
            return;
        }
        const planned_job job = plan_.job(result.tag);
        for (std::size_t i = 0; i < job.items.size(); ++i) {
            for (const placement& one : job.placements_of(i)) {
                std::array<std::byte, 4> slot{};
                const auto bytes = result.items[i].bytes.subspan(one.block_offset, one.length);
                EXPECT_EQ(decode_value(real_, 0, bytes, slot), decode_result::good);
            }
        }
    }

  private:
    void submit() {
        if (++submitted_ % 10 == 0) {
            const std::array<std::byte, 4> value{};
            const std::array items = {
                write_item{byte_variable(area::data_block, 1, 15'900, 4), value}};
            EXPECT_TRUE(client_.submit_write(0, items));
            return;
        }
        next_job_ = (next_job_ + 1) % plan_.job_count();
        EXPECT_TRUE(client_.submit_read(next_job_, plan_.job(next_job_).items));
    }

    void carry() {
        for (bool moved = true; moved;) {
            moved = !client_wire_.sent.empty() || !server_wire_.sent.empty();
            server_wire_.receive(client_wire_.sent);
            client_wire_.sent.clear();
            client_wire_.receive(server_wire_.sent);
            server_wire_.sent.clear();
        }
    }

    transport::manual_clock clock_;
    transport::pinned_pool pool_{{"s7_gate", 967, 17}};
    client_engine client_{{}, pool_, *this};
    simulated_plc plc_{plc_config(), clock_};
    server_engine server_{plc_};
    s7::test::fake_driver client_wire_{client_, clock_};
    s7::test::fake_driver server_wire_{server_, clock_};
    read_plan plan_;
    data_type real_{.base = base_type::real};
    std::uint64_t finished_ = 0;
    std::uint64_t submitted_ = 0;
    std::size_t next_job_ = 0;
};

TEST(s7_gate, jobs_allocate_nothing) {
    const outer_counter outer;
    scanner everything;
    everything.run(warm_up);
    const auto operations = [] {
        const auto totals = transport::operation_totals_now();
        return totals[s7_read.index()].operations + totals[s7_write.index()].operations;
    };
    const std::uint64_t before = operations();
    const window open(outer);
    everything.run(measured);
    const window::result seen = open.close();
    EXPECT_EQ(seen.allocations, 0u);
    EXPECT_TRUE(seen.outer_agrees);
    EXPECT_GE(operations() - before, measured) << "each job is counted as one operation";
}

}  // namespace
}  // namespace tagferry::allocation
