// What answers cost the HTTP engine, without a network: the peer's bytes come from memory and the
// answers go nowhere.

#include "tests/support/http_peer.hpp"
#include "tests/unit/web/fake_backend.hpp"
#include "web/server.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace tagferry::web {
namespace {

// As a browser's fetch or a typical client library asks: seven header fields.
std::string get(std::string_view target) {
    return "GET " + std::string(target) +
           " HTTP/1.1\r\nHost: localhost:8080\r\nConnection: keep-alive\r\nAccept: */*\r\n"
           "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept-Encoding: gzip, deflate\r\n"
           "Accept-Language: en-GB,en;q=0.9\r\nReferer: http://localhost:8080/\r\n\r\n";
}

struct world {
    world() {
        testing::add_usual_tags(above.values);
        for (int i = 0; i < 200; ++i) {
            above.values.tags.push_back({.path = "mill/line/" + std::to_string(i),
                                         .type = value_type::float64,
                                         .bytes = testing::bytes_of(0.1 * i)});
        }
    }
    testing::fake_backend above;
    transport::real_clock clock;
    backend parts = above.parts();
    server serving{{}, parts, clock};
};

void run(benchmark::State& state, const std::string& request, std::size_t requests) {
    world w;
    support::http_peer peer(w.serving, w.clock.now());
    std::size_t bytes = 0;
    for (auto _ : state) {
        bytes += peer.send(request, 8192, w.clock.now());
    }
    const auto count = static_cast<std::int64_t>(requests) * state.iterations();
    state.SetItemsProcessed(count);
    state.counters["answer_bytes"] =
        static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(count, 1));
}

void one_value(benchmark::State& state) {
    run(state, get("/api/v1/values/press/tank/level"), 1);
}
BENCHMARK(one_value);

void eight_values_pipelined(benchmark::State& state) {
    std::string burst;
    for (int i = 0; i < 8; ++i) {
        burst += get("/api/v1/values/press/tank/level");
    }
    run(state, burst, 8);
}
BENCHMARK(eight_values_pipelined);

void list_of_100_values(benchmark::State& state) {
    run(state, get("/api/v1/values?filter=mill/**&limit=100"), 1);
}
BENCHMARK(list_of_100_values);

void not_found(benchmark::State& state) {
    run(state, get("/api/v1/none"), 1);
}
BENCHMARK(not_found);

}  // namespace
}  // namespace tagferry::web
