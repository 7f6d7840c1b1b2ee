// The stream in steady state allocates nothing: 10,000 deltas to one client, whose tags change in
// bursts, counted over the whole process.

#include "tests/allocation/allocation_gate.hpp"
#include "tests/support/http_peer.hpp"
#include "tests/unit/web/fake_backend.hpp"
#include "web/http/operations.hpp"
#include "web/server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace tagferry::allocation {
namespace {

using namespace web::testing;

constexpr std::uint64_t warm_up = 1000;
constexpr std::uint64_t measured = 10'000;
constexpr std::uint32_t tags = 200;

/// Tells that every tag changed, without memory of its own.
class steady_feed final : public web::feed {
  public:
    bool watch(web::tag_handle) override { return true; }
    void unwatch(web::tag_handle) noexcept override {}
    void arm(transport::completion_sink& asker, transport::completion_token name) override {
        sink_ = &asker;
        token_ = name;
    }
    std::size_t drain(std::span<std::uint32_t> indexes) override {
        std::size_t count = 0;
        while (count < indexes.size() && next_ < tags) {
            indexes[count++] = next_++;
        }
        return count;
    }
    std::uint32_t index_limit() const noexcept override { return 4096; }
    std::uint64_t revision() const noexcept override { return 1; }
    std::span<const web::reason_words> reasons() const noexcept override { return {}; }

    void tell(transport::time_point now) {
        next_ = 0;
        if (sink_ != nullptr) {
            std::exchange(sink_, nullptr)->resume(token_, 0, now);
        }
    }

  private:
    transport::completion_sink* sink_ = nullptr;
    transport::completion_token token_{};
    std::uint32_t next_ = tags;
};

/// Later turns one after the other.
class steady_execution final : public web::execution {
  public:
    bool submit(web::job&, transport::completion_sink&, transport::completion_token) override {
        return false;
    }
    bool later(transport::completion_sink& sink, transport::completion_token token) override {
        sink_ = &sink;
        token_ = token;
        return true;
    }
    transport::timing_wheel& wheel() noexcept override { return timers; }

    bool run_one(transport::time_point now) {
        transport::completion_sink* const sink = std::exchange(sink_, nullptr);
        if (sink != nullptr) {
            sink->resume(token_, 0, now);
        }
        return sink != nullptr;
    }

    transport::timing_wheel timers{transport::time_point{std::chrono::hours(1)}};

  private:
    transport::completion_sink* sink_ = nullptr;
    transport::completion_token token_{};
};

std::string masked(std::string_view payload) {
    constexpr std::array<char, 4> mask = {1, 2, 3, 4};
    std::string frame = {'\x81', static_cast<char>(0x80 | static_cast<char>(payload.size()))};
    frame.append(mask.data(), mask.size());
    for (std::size_t i = 0; i < payload.size(); ++i) {
        frame += static_cast<char>(payload[i] ^ mask[i % 4]);
    }
    return frame;
}

std::uint64_t pushes() {
    return transport::operation_totals_now()[web::ws_push.index()].operations;
}

TEST(stream_gate, deltas) {
    const outer_counter outer;
    fake_backend above;
    steady_feed feed;
    steady_execution execution;
    above.values.tags.clear();
    for (std::uint32_t i = 0; i < tags; ++i) {
        above.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                     .type = web::value_type::float64,
                                     .bytes = bytes_of(0.1 * i)});
    }
    const web::backend parts{
        above.values, above.browse, above.connections, above.identity, above.overview,
        execution,    feed,         above.writes,      above.requests, above.sources};
    web::server server({}, parts, above.clock);
    support::http_peer client(server, above.clock.now());
    const auto run = [&] {
        do {
            client.turn(above.clock.now());
        } while (execution.run_one(above.clock.now()));
        client.turn(above.clock.now());
    };
    client.send(
        "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Protocol: tagferry.v1.json\r\n\r\n",
        8192, above.clock.now());
    client.send(masked(R"({"op":"subscribe","id":1,"tags":["mill/*"],"min_interval_ms":50})"), 8192,
                above.clock.now());
    const auto push_once = [&] {
        feed.tell(above.clock.now());
        run();
        above.clock.advance(std::chrono::milliseconds(50));
        transport::turn_budget budget(above.clock, above.clock.now());
        execution.timers.advance(above.clock.now(), budget);
        run();
    };
    run();
    for (std::uint64_t i = 0; i < warm_up; ++i) {
        push_once();
    }
    const std::uint64_t before = pushes();
    const window counted(outer);
    while (pushes() - before < measured) {
        push_once();
        ASSERT_FALSE(client.closing());
    }
    const auto result = counted.close();
    EXPECT_EQ(result.allocations, 0U);
    EXPECT_TRUE(result.outer_agrees);
}

}  // namespace
}  // namespace tagferry::allocation
