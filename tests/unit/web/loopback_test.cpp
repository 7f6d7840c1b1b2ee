// The server behind the real driver, on loopback sockets, with a real worker pool.
#include "tests/unit/web/web_fixture.hpp"
#include "transport/net/listener.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"
#include "transport/threads/worker_pool.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

namespace tagferry::web::testing {
namespace {

/// What the gateway does for `execution`, in short.
class pool_execution final : public execution {
  public:
    pool_execution(transport::shard& owner, transport::worker_pool& workers)
        : shard_(owner), workers_(workers) {}

    bool submit(job& work, transport::completion_sink& sink,
                transport::completion_token token) override {
        return workers_.submit({.run =
                                    [](void* object, transport::job::payload_type&) {
                                        static_cast<job*>(object)->run();
                                        return std::uint32_t{0};
                                    },
                                .object = &work,
                                .owner = &shard_,
                                .sink = &sink,
                                .token = token});
    }
    bool later(transport::completion_sink& sink, transport::completion_token) override {
        return shard_.post({.run =
                                [](void* object, std::uint64_t, std::uint64_t) {
                                    static_cast<transport::completion_sink*>(object)->resume(
                                        {}, 0, transport::shard::current()->now());
                                },
                            .object = &sink});
    }
    transport::timing_wheel& wheel() noexcept override { return shard_.wheel(); }

  private:
    transport::shard& shard_;
    transport::worker_pool& workers_;
};

class client {
  public:
    explicit client(std::uint16_t port, int receive_buffer = 0)
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        if (receive_buffer != 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        }
        timeval patience{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    }
    ~client() { ::close(socket_); }
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            ASSERT_GT(sent, 0);
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    /// Receives until `count` answers are complete or the peer closes.
    std::vector<answer> answers(std::size_t count) {
        std::vector<answer> found;
        std::array<char, 16384> buffer{};
        while (found.size() < count) {
            const auto got = ::recv(socket_, buffer.data(), buffer.size(), 0);
            if (got <= 0) {
                break;
            }
            wire_.append(buffer.data(), static_cast<std::size_t>(got));
            for (auto& one : take_answers(wire_)) {
                found.push_back(std::move(one));
            }
        }
        return found;
    }

    bool closed_by_peer() {
        char byte = 0;
        return ::recv(socket_, &byte, 1, 0) == 0;
    }

  private:
    int socket_;
    std::string wire_;
};

class loopback : public ::testing::Test {
  protected:
    loopback() {
        add_usual_tags(above_.values);
        for (int i = 0; i < 2000; ++i) {
            above_.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                          .type = value_type::float64,
                                          .bytes = bytes_of(0.1 * i),
                                          .description = std::string(200, 'x')});
        }
        above_.metrics.series = 5000;
        transport::listener_options options;
        options.addresses = {*transport::parse_address("127.0.0.1:0")};
        options.connection.counters = &traffic_;
        options.connection.frame_timeout = transport::duration::max();
        listener_.emplace(shard_, options, server_);
        port_ = listener_->bound()[0].port;
        listener_->start();
        workers_.start();
        shard_.start();
    }
    ~loopback() override {
        workers_.stop();
        shard_.stop();
        shard_.join();
        listener_.reset();
    }

    static std::string get(std::string_view target, std::string_view fields = {}) {
        return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" +
               std::string(fields) + "\r\n";
    }

    transport::real_clock clock_;
    transport::traffic traffic_{"http"};
    transport::shard shard_{{.name = "web"}, clock_};
    transport::worker_pool workers_{{.name = "worker"}};
    fake_backend above_;
    pool_execution execution_{shard_, workers_};
    backend parts_{above_.values,   above_.browse, above_.connections, above_.identity,
                   above_.overview, execution_,    above_.feed,        above_.writes,
                   above_.requests, above_.sources};
    server server_{{}, parts_, clock_};
    std::optional<transport::listener> listener_;
    std::uint16_t port_ = 0;
};

TEST_F(loopback, values_one_by_one_and_pipelined) {
    client peer(port_);
    for (int i = 0; i < 3; ++i) {
        peer.send(get("/api/v1/values/press/count"));
        const auto got = peer.answers(1);
        ASSERT_EQ(got.size(), 1U);
        EXPECT_EQ(got[0].json()["value"], -7);
    }
    std::string burst;
    for (int i = 0; i < 500; ++i) {
        burst += get("/api/v1/values/mill/" + std::to_string(i));
    }
    peer.send(burst);
    const auto got = peer.answers(500);
    ASSERT_EQ(got.size(), 500U);
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].json()["path"], "mill/" + std::to_string(i));
    }
    // Requests that arrive together leave together.
    EXPECT_LT(traffic_.writes.value(), 253U);
}

TEST_F(loopback, metrics_come_from_the_worker_in_order) {
    client peer(port_);
    peer.send(get("/metrics") + get("/healthz") + get("/metrics"));
    const auto got = peer.answers(3);
    ASSERT_EQ(got.size(), 3U);
    EXPECT_NE(got[0].body.find("{index=\"4999\"} 4999\n"), std::string::npos);
    EXPECT_EQ(got[1].body, "{\"status\":\"ok\"}");
    EXPECT_EQ(got[2].status, 200);
}

TEST_F(loopback, a_slow_reader_gets_a_long_list_whole) {
    client peer(port_, 4096);
    for (int i = 0; i < 4; ++i) {
        peer.send(get("/api/v1/tags?limit=1000&filter=mill/*"));
    }
    const auto got = peer.answers(4);
    ASSERT_EQ(got.size(), 4U);
    EXPECT_EQ(got[3].json()["items"].size(), 1000U);
}

TEST_F(loopback, the_last_error_arrives_before_the_close) {
    client peer(port_);
    peer.send("BROKEN\r\n\r\n" + std::string(100'000, 'x'));
    const auto got = peer.answers(1);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].status, 400);
    EXPECT_TRUE(peer.closed_by_peer());
    client large(port_);
    large.send(get("/api/v1/tags?limit=1000", "Connection: close\r\n"));
    EXPECT_EQ(large.answers(1).at(0).json()["items"].size(), 1000U);
    EXPECT_TRUE(large.closed_by_peer());
}

TEST_F(loopback, peers_that_leave_in_the_middle_leave_nothing_behind) {
    for (int i = 0; i < 20; ++i) {
        client peer(port_);
        peer.send(get("/metrics") + get("/api/v1/tags?limit=1000") + "GET /api");
        if (i % 2 == 0) {
            peer.answers(1);
        }
    }
    client peer(port_);
    for (int i = 0; i < 100; ++i) {
        peer.send(get("/metrics"));
        const auto got = peer.answers(1);
        ASSERT_EQ(got.size(), 1U);
        if (got[0].status == 200) {
            return;
        }
        ASSERT_EQ(got[0].status, 503);
    }
    FAIL() << "a scrape is still taken";
}

}  // namespace
}  // namespace tagferry::web::testing
