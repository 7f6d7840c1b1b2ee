// Driver, listener and shard in steady state: an echo allocates nothing, with one connection and
// with twenty, one request at a time and eight in one write.
#include "tests/allocation/allocation_gate.hpp"
#include "tests/support/echo_engine.hpp"
#include "transport/net/listener.hpp"
#include "transport/net/socket.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace tagferry {
namespace {

class echo_factory final : public transport::engine_factory {
  public:
    std::unique_ptr<transport::engine> make_engine(const transport::peer_info&) override {
        return std::make_unique<testing::echo_engine>();
    }
};

class client {
  public:
    explicit client(const transport::address& where)
        : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        transport::socket_address raw = transport::to_socket_address(where);
        EXPECT_EQ(::connect(descriptor_.get(), raw.generic(), raw.size), 0);
        transport::tune(descriptor_.get(), {});
    }

    void send(std::span<const std::byte> burst) {
        ASSERT_EQ(::send(descriptor_.get(), burst.data(), burst.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(burst.size()));
    }
    void expect(std::span<const std::byte> burst) {
        std::array<std::byte, 4096> answer;
        ASSERT_EQ(::recv(descriptor_.get(), answer.data(), burst.size(), MSG_WAITALL),
                  static_cast<ssize_t>(burst.size()));
        ASSERT_EQ(std::memcmp(answer.data(), burst.data(), burst.size()), 0);
    }

  private:
    transport::owned_descriptor descriptor_;
};

void expect_no_allocations(std::size_t connections, std::size_t burst_frames, std::size_t size) {
    const transport::real_clock clock;
    transport::traffic counters("echo");
    transport::shard home({.name = "echo", .mailbox_capacity = 64}, clock);
    echo_factory factory;
    transport::listener_options options;
    options.addresses = {*transport::parse_address("127.0.0.1:0")};
    options.connection.counters = &counters;
    transport::listener server(home, options, factory);
    server.start();
    home.start();

    std::vector<std::byte> burst(burst_frames * size);
    const auto total = static_cast<std::uint32_t>(size);
    for (std::size_t frame = 0; frame < burst.size(); frame += size) {
        std::memcpy(burst.data() + frame, &total, sizeof total);
    }
    std::vector<std::unique_ptr<client>> clients;
    for (std::size_t i = 0; i < connections; ++i) {
        clients.push_back(std::make_unique<client>(server.bound()[0]));
    }
    const auto exchange = [&](std::size_t messages) {
        for (std::size_t done = 0; done < messages; done += connections * burst_frames) {
            for (auto& each : clients) {
                each->send(burst);
            }
            for (auto& each : clients) {
                each->expect(burst);
            }
        }
    };
    const allocation::outer_counter outer;
    exchange(1000);
    const allocation::window window(outer);
    exchange(10'000);
    const auto result = window.close();
    EXPECT_EQ(result.allocations, 0u);
    EXPECT_TRUE(result.outer_agrees);
    home.stop();
    home.join();
    // Counted after they have left, so only now surely all.
    EXPECT_GE(counters.messages.value(), 11'000u);
}

TEST(echo_gate, one_connection_one_request_at_a_time) {
    expect_no_allocations(1, 1, 64);
}

TEST(echo_gate, one_connection_eight_requests_in_one_write) {
    expect_no_allocations(1, 8, 256);
}

TEST(echo_gate, twenty_connections) {
    expect_no_allocations(20, 1, 64);
}

}  // namespace
}  // namespace tagferry
