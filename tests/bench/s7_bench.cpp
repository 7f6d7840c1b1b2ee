// What S7 costs without a network: a job through client and simulator, planning, decoding.
#include "protocols/s7/client_engine.hpp"
#include "protocols/s7/session/read_plan.hpp"
#include "protocols/s7/simulator/server_engine.hpp"
#include "protocols/s7/types/codec.hpp"
#include "transport/time/manual_clock.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <vector>

namespace tagferry::s7 {
namespace {

std::vector<wanted_item> reals(std::size_t count, std::uint32_t stride) {
    std::vector<wanted_item> wanted;
    for (std::uint32_t i = 0; i < count; ++i) {
        wanted.push_back({area::data_block, 1, i * stride, 4, 4, false});
    }
    return wanted;
}

/// The least a driver does: hands bytes over in one piece and reports at once.
class straight_wire final : public transport::engine_host {
  public:
    void output_ready() noexcept override {}
    void close_after_flush(transport::close_reason) noexcept override {}
    void abort(transport::close_reason) noexcept override {}

    /// Moves what `from` has to say to `to`. @return messages moved.
    std::size_t carry(transport::engine& from, transport::engine& to, transport::time_point now) {
        transport::send_batch batch;
        from.pull(batch, now);
        std::size_t size = 0;
        for (const auto segment : batch.segments()) {
            std::memcpy(buffer_.data() + size, segment.data(), segment.size());
            size += segment.size();
        }
        for (const std::size_t message : batch.message_sizes()) {
            from.written({message, {}});
        }
        if (size != 0) {
            to.receive(std::span(buffer_).first(size), now);
        }
        return batch.message_sizes().size();
    }

  private:
    std::array<std::byte, 64 * 1024> buffer_{};
};

class counting_observer final : public client_observer {
  public:
    void link_changed(const link_event& /*event*/) override {}
    void job_finished(const job_result& result) override { items += result.items.size(); }
    std::uint64_t items = 0;
};

/// Eight jobs of `items` items in flight, again and again; both ends are counted.
void job_round_trip(benchmark::State& state) {
    const auto items_per_job = static_cast<std::size_t>(state.range(0));
    transport::manual_clock clock;
    transport::pinned_pool pool({"s7_bench", 967, 17});
    counting_observer observer;
    client_engine client({}, pool, observer);
    simulator_config config;
    config.data_blocks = {{1, 4096}};
    simulated_plc plc(config, clock);
    server_engine server(plc);
    straight_wire wire;
    server.opened(wire, clock.now());
    client.opened(wire, clock.now());
    while (client.state() != link_state::up) {
        wire.carry(client, server, clock.now());
        wire.carry(server, client, clock.now());
    }
    std::vector<variable> items;
    for (std::uint32_t i = 0; i < items_per_job; ++i) {
        items.push_back(byte_variable(area::data_block, 1, i * 100, 4));
    }
    std::int64_t jobs = 0;
    for (auto _ : state) {
        for (int i = 0; i < 8; ++i) {
            client.submit_read(1, items);
        }
        wire.carry(client, server, clock.now());
        wire.carry(server, client, clock.now());
        jobs += 8;
    }
    state.SetItemsProcessed(jobs);
    if (observer.items != static_cast<std::uint64_t>(jobs) * items_per_job) {
        state.SkipWithError("jobs were lost");
    }
    client.closed({transport::close_reason::shutting_down, {}}, clock.now());
    server.closed({transport::close_reason::shutting_down, {}}, clock.now());
}
BENCHMARK(job_round_trip)->Arg(1)->Arg(20);

void plan_10000_reals(benchmark::State& state) {
    const auto wanted = reals(10'000, static_cast<std::uint32_t>(state.range(0)));
    read_plan plan;
    for (auto _ : state) {
        plan.build(wanted, {.pdu_size = 960});
    }
    state.counters["jobs"] = static_cast<double>(plan.job_count());
}
BENCHMARK(plan_10000_reals)->Arg(4)->Arg(54);

void decode(benchmark::State& state, std::string_view text) {
    data_type type;
    if (parse_data_type(text, type)) {
        state.SkipWithError("not a type");
        return;
    }
    std::vector<std::byte> plc(plc_size(type), std::byte{20});
    std::vector<std::byte> slot(slot_size(type));
    for (auto _ : state) {
        benchmark::DoNotOptimize(decode_value(type, 0, plc, slot));
        benchmark::ClobberMemory();
    }
}
BENCHMARK_CAPTURE(decode, real, "REAL");
BENCHMARK_CAPTURE(decode, array_of_100_reals, "ARRAY[0..99] OF REAL");
BENCHMARK_CAPTURE(decode, string_of_20, "STRING[20]");

}  // namespace
}  // namespace tagferry::s7
