// What it costs to know who pays: one counted operation, one scope, one counted allocation; and
// records through the rings and the generation table.
#include "transport/memory/generation_table.hpp"
#include "transport/memory/operations.hpp"
#include "transport/memory/rings.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace tagferry::transport;

const operation_kind kind = register_operation_kind("bench");

struct record {
    std::uint64_t words[4];
};

void counted_operation(benchmark::State& state) {
    for (auto _ : state) {
        count_operation(kind, std::chrono::microseconds{3});
    }
}
BENCHMARK(counted_operation);

void scope(benchmark::State& state) {
    for (auto _ : state) {
        const operation_scope charged(kind);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(scope);

void counted_allocation(benchmark::State& state) {
    for (auto _ : state) {
        count_allocation(100);
    }
}
BENCHMARK(counted_allocation);

void totals(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(operation_totals_now());
    }
}
BENCHMARK(totals);

template <typename Ring>
void push_and_pop(benchmark::State& state) {
    Ring ring(256);
    record moved{};
    for (auto _ : state) {
        ring.try_push(moved);
        ring.try_pop(moved);
        benchmark::DoNotOptimize(moved);
    }
}
BENCHMARK(push_and_pop<spsc_ring<record>>);
BENCHMARK(push_and_pop<mpsc_ring<record>>);

void take_find_release(benchmark::State& state) {
    generation_table<record> table(1024);
    for (auto _ : state) {
        completion_token token;
        table.take(token);
        benchmark::DoNotOptimize(table.find(token));
        table.release(token);
    }
}
BENCHMARK(take_find_release);

}  // namespace
