// What the OPC UA engine itself costs: requests shown to it in memory, answers taken from it. No
// socket, and a gateway whose tree is a std::map: its look-up by path is part of the figures.
#include "protocols/opcua/server/server.hpp"
#include "tests/support/opcua/bulk_plant.hpp"
#include "tests/support/opcua/steady_client.hpp"

#include <benchmark/benchmark.h>

namespace tagferry::opcua::test {
namespace {

struct bench_plant : plant {
    bench_plant() {
        for (int count = 0; count < 100; ++count) {
            gateway.add_tag(path(count), builtin_type::float32, slot_of(static_cast<float>(count)));
        }
    }
    static std::string path(int number) { return "bulk/t" + std::to_string(number); }
    static std::vector<std::string> paths(int count) {
        std::vector<std::string> out;
        for (int number = 0; number < count; ++number) {
            out.push_back(path(number));
        }
        return out;
    }
};

std::vector<std::string> registered(raw_client& client, const std::vector<std::string>& paths) {
    const reply answer =
        client.call(client.request(id::register_nodes_request_binary, [&](encoder& out) {
            out.u32(static_cast<std::uint32_t>(paths.size()));
            for (const std::string& each : paths) {
                raw_client::write_id(out, each);
            }
        }));
    bytes rest;
    raw_client::result_of(answer, nullptr, &rest);
    const limits bounds;
    decoder in{rest, bounds};
    std::vector<std::string> out;
    for (std::uint32_t left = in.array_length(1); left != 0; --left) {
        out.push_back("3#" + std::to_string(in.node_id().number));
    }
    return out;
}

void run(benchmark::State& state, bench_plant& site, steady_client& client, std::int64_t values) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(client.send(site.time.now()));
    }
    state.SetItemsProcessed(state.iterations() * values);
}

void read_by_path(benchmark::State& state) {
    bench_plant site;
    steady_client client{site};
    const int count = static_cast<int>(state.range(0));
    client.repeat(client.client().read_request(bench_plant::paths(count)));
    run(state, site, client, count);
}
BENCHMARK(read_by_path)->Arg(1)->Arg(100);

void read_by_registered_number(benchmark::State& state) {
    bench_plant site;
    steady_client client{site};
    const int count = static_cast<int>(state.range(0));
    const auto numbers = registered(client.client(), bench_plant::paths(count));
    client.repeat(client.client().read_request(numbers));
    run(state, site, client, count);
}
BENCHMARK(read_by_registered_number)->Arg(1)->Arg(100);

void read_pipelined(benchmark::State& state) {
    bench_plant site;
    steady_client client{site};
    client.repeat(client.client().read_request(bench_plant::paths(1)),
                  static_cast<std::size_t>(state.range(0)));
    run(state, site, client, state.range(0));
}
BENCHMARK(read_pipelined)->Arg(8);

void browse_group(benchmark::State& state) {
    bench_plant site;
    steady_client client{site};
    client.repeat(client.client().request(id::browse_request_binary, [](encoder& out) {
        out.numeric_id(0, 0);
        out.i64(0);
        out.u32(0);
        out.u32(0);
        out.u32(1);
        raw_client::write_id(out, "#2253");
        out.u32(0);
        out.numeric_id(0, id::hierarchical_references);
        out.boolean(true);
        out.u32(0);
        out.u32(63);
    }));
    run(state, site, client, 16);
}
BENCHMARK(browse_group);

// All items change in every publishing interval: range(0) subscriptions of range(1) items, with a
// queue of range(2).
void publish_notifications(benchmark::State& state) {
    item_wish like;
    like.queue_size = static_cast<std::uint32_t>(state.range(2));
    bulk_plant site{static_cast<std::uint32_t>(state.range(0)),
                    static_cast<std::uint32_t>(state.range(1)), like};
    site.round();
    for (auto _ : state) {
        benchmark::DoNotOptimize(site.round());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(publish_notifications)->Args({10, 1'000, 1})->Args({10, 1'000, 10})->Args({100, 10, 1});

}  // namespace
}  // namespace tagferry::opcua::test
