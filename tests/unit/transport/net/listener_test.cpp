#include "transport/net/listener.hpp"

#include "tests/support/frame_engine.hpp"
#include "transport/net/socket.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"
#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;
using testing::byte_string;
using testing::make_frame;

/// A blocking peer of the test's own, with a timeout against hanging.
class peer {
  public:
    explicit peer(const address& where) {
        socket_address raw = to_socket_address(where);
        descriptor_ = owned_descriptor(::socket(where.is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0));
        const timeval patience{5, 0};
        ::setsockopt(descriptor_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        connected = ::connect(descriptor_.get(), raw.generic(), raw.size) == 0;
    }
    void send(const byte_string& bytes) {
        EXPECT_EQ(::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }
    /// @return what there is now; empty at the end of the stream or when there is nothing.
    byte_string receive(int flags = 0) {
        byte_string bytes(65'536);
        const ssize_t got = ::recv(descriptor_.get(), bytes.data(), bytes.size(), flags);
        error = got < 0 ? errno : 0;
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return bytes;
    }
    bool at_end() { return receive(MSG_DONTWAIT).empty() && error == 0; }
    bool open() { return receive(MSG_DONTWAIT | MSG_PEEK).empty() && error == EAGAIN; }
    void close() { descriptor_.reset(); }

    bool connected = false;
    int error = 0;

  private:
    owned_descriptor descriptor_;
};

class listener_test : public ::testing::Test, public engine_factory, public listener_observer {
  protected:
    listener_test() : counters_("listener"), home_({.name = "listener"}, clock_) {
        options_.addresses = {*parse_address("127.0.0.1:0")};
        options_.connection.counters = &counters_;
        options_.observer = this;
    }

    void make() { listener_ = std::make_unique<listener>(home_, options_, *this); }
    void begin() {
        make();
        listener_->start();
    }
    void settle() { home_.poll_here(); }

    std::unique_ptr<engine> make_engine(const peer_info& info) override {
        peers_.push_back(info);
        if (refuses_) {
            return nullptr;
        }
        auto made = std::make_unique<testing::frame_engine>();
        made->echoes = true;
        engines_.push_back(made.get());
        return made;
    }
    void happened(listener_event event, const address&, std::error_code error,
                  std::uint64_t count) override {
        events_.push_back({event, error, count});
    }

    struct report {
        listener_event event;
        std::error_code error;
        std::uint64_t count;
    };

    manual_clock clock_;
    traffic counters_;
    shard home_;
    listener_options options_;
    bool refuses_ = false;
    std::vector<peer_info> peers_;
    std::vector<testing::frame_engine*> engines_;
    std::vector<report> events_;
    std::unique_ptr<listener> listener_;
};

TEST_F(listener_test, echoes_over_ipv4_and_ipv6_and_tells_the_ports) {
    options_.addresses = {*parse_address("127.0.0.1:0"), *parse_address("[::1]:0")};
    begin();
    ASSERT_EQ(listener_->bound().size(), 2u);
    for (const address& where : listener_->bound()) {
        EXPECT_NE(where.port, 0);
        peer client(where);
        ASSERT_TRUE(client.connected);
        client.send(make_frame(100));
        settle();
        EXPECT_EQ(client.receive(), make_frame(100));
        EXPECT_EQ(peers_.back().local, where);
        EXPECT_TRUE(peers_.back().peer.same_host(where));
        client.close();
        settle();
    }
    EXPECT_TRUE(listener_->idle());
    EXPECT_EQ(counters_.connections_total.value(), 2u);
    EXPECT_EQ(counters_.connections_open.value(), 0u);
}

TEST_F(listener_test, nothing_is_accepted_before_the_start) {
    make();
    const peer early(listener_->bound()[0]);
    settle();
    EXPECT_EQ(listener_->connection_count(), 0u);
    listener_->start();
    settle();
    EXPECT_EQ(listener_->connection_count(), 1u);
}

TEST_F(listener_test, a_bind_that_fails_says_where_and_why) {
    begin();
    options_.addresses = {listener_->bound()[0]};
    try {
        const listener second(home_, options_, *this);
        FAIL() << "two listeners on one port";
    } catch (const std::system_error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(to_text(listener_->bound()[0])), std::string::npos) << text;
        EXPECT_NE(text.find("Address already in use"), std::string::npos) << text;
    }
}

TEST_F(listener_test, admits_no_more_than_the_limit_in_all) {
    options_.max_connections = 2;
    begin();
    peer first(listener_->bound()[0]);
    peer second(listener_->bound()[0]);
    peer third(listener_->bound()[0]);
    peer fourth(listener_->bound()[0]);
    settle();
    EXPECT_EQ(listener_->connection_count(), 2u);
    EXPECT_TRUE(first.open());
    EXPECT_TRUE(second.open());
    EXPECT_TRUE(third.at_end());
    EXPECT_TRUE(fourth.at_end());
    EXPECT_EQ(counters_.refused_in_all.value(), 2u);
    ASSERT_EQ(events_.size(), 1u) << "one report a second";
    EXPECT_EQ(events_[0].event, listener_event::refused_in_all);
    clock_.advance(1s);
    const peer fifth(listener_->bound()[0]);
    settle();
    ASSERT_EQ(events_.size(), 2u);
    EXPECT_EQ(events_[1].count, 2u) << "the fourth and the fifth";
    first.close();
    settle();
    peer sixth(listener_->bound()[0]);
    settle();
    EXPECT_TRUE(sixth.open()) << "there is room again";
}

TEST_F(listener_test, admits_no_more_than_the_limit_from_one_address) {
    options_.addresses = {*parse_address("127.0.0.1:0"), *parse_address("[::1]:0")};
    options_.max_connections_per_address = 1;
    begin();
    peer first(listener_->bound()[0]);
    settle();
    peer second(listener_->bound()[0]);
    peer other(listener_->bound()[1]);
    settle();
    EXPECT_TRUE(first.open());
    EXPECT_TRUE(second.at_end());
    EXPECT_TRUE(other.open());
    EXPECT_EQ(counters_.refused_by_address.value(), 1u);
}

TEST_F(listener_test, a_factory_may_refuse) {
    refuses_ = true;
    begin();
    peer client(listener_->bound()[0]);
    settle();
    EXPECT_TRUE(client.at_end());
    EXPECT_TRUE(listener_->idle());
}

// Not under UBSan: it looks at an object it meets for the first time through a pipe, and this test
// takes all descriptors. The other builds run it.
#if defined(__clang__)
#if __has_feature(undefined_behavior_sanitizer)
#define TAGFERRY_UBSAN_NEEDS_DESCRIPTORS
#endif
#endif
#ifndef TAGFERRY_UBSAN_NEEDS_DESCRIPTORS
TEST_F(listener_test, without_descriptors_it_pauses_and_does_not_spin) {
    begin();
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    peer client(listener_->bound()[0]);
    // Every number below the limit is in use, so accept has none to give.
    std::vector<owned_descriptor> used;
    const rlimit low{64, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    for (int taken = ::dup(0); taken >= 0; taken = ::dup(0)) {
        used.emplace_back(taken);
    }
    settle();
    const std::uint64_t errors = counters_.accept_errors.value();
    settle();
    settle();
    EXPECT_EQ(errors, 1u);
    EXPECT_EQ(counters_.accept_errors.value(), errors);
    ASSERT_EQ(events_.size(), 1u);
    EXPECT_EQ(events_[0].event, listener_event::accept_failed);
    EXPECT_EQ(events_[0].error, std::errc::too_many_files_open);
    used.clear();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    clock_.advance(200ms);
    home_.wake();
    settle();
    settle();
    EXPECT_EQ(listener_->connection_count(), 1u);
    EXPECT_TRUE(client.open());
}
#endif

TEST_F(listener_test, stop_flushes_and_closes_and_takes_nobody_new) {
    begin();
    const address where = listener_->bound()[0];
    peer client(where);
    settle();
    {
        const turn_scope turn(home_);
        engines_[0]->queue(make_frame(77));
        listener_->stop();
    }
    EXPECT_EQ(client.receive(), make_frame(77));
    EXPECT_TRUE(client.at_end());
    EXPECT_FALSE(listener_->idle()) << "draining what the peer still sends";
    client.close();
    settle();
    EXPECT_TRUE(listener_->idle());
    EXPECT_FALSE(peer(where).connected);
}

TEST_F(listener_test, destruction_ends_what_is_open) {
    begin();
    peer client(listener_->bound()[0]);
    settle();
    client.send(make_frame(20));
    listener_.reset();
    client.receive();
    EXPECT_TRUE(client.at_end() || client.error == ECONNRESET);
    const auto index = static_cast<std::size_t>(close_reason::shutting_down);
    EXPECT_EQ(counters_.closed[index].value(), 1u);
}

TEST_F(listener_test, tx8_an_error_message_is_not_reset_away_by_unread_input) {
    begin();
    peer client(listener_->bound()[0]);
    settle();
    engines_[0]->on_frame = [this] {
        engines_[0]->echoes = false;
        engines_[0]->queue(make_frame(33, 9));
        engines_[0]->host->close_after_flush(close_reason::protocol_error);
    };
    engines_[0]->echoes = false;
    byte_string much = make_frame(20);
    much.resize(60'000);
    client.send(much);
    settle();
    EXPECT_EQ(client.receive(), make_frame(33, 9));
    EXPECT_TRUE(client.at_end());
    EXPECT_EQ(client.error, 0);
}

TEST(tx3, the_system_holds_no_small_message_back) {
    std::error_code error;
    const owned_descriptor socket = open_socket(address{}, error);
    ASSERT_TRUE(socket) << error.message();
    tune(socket.get(), {});
    int no_delay = 0;
    socklen_t size = sizeof no_delay;
    ASSERT_EQ(::getsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
    EXPECT_NE(no_delay, 0);
}

TEST(address, is_read_and_written_in_one_form) {
    for (const char* const text :
         {"127.0.0.1:4840", "0.0.0.0:0", "[::1]:65535", "[2001:db8::1]:1"}) {
        const auto value = parse_address(text);
        ASSERT_TRUE(value.has_value()) << text;
        EXPECT_EQ(to_text(*value), text);
    }
}

TEST(address, refuses_what_is_none) {
    for (const char* const text :
         {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
          "::1:80", "[::1]", "[127.0.0.1]:80", "localhost:80", "1.2.3:80", "[::1%nosuch]:80",
          "256.0.0.1:80", "[]:80"}) {
        EXPECT_FALSE(parse_address(text).has_value()) << text;
    }
}

TEST(address, ipv4_inside_ipv6_is_the_same_peer) {
    EXPECT_EQ(parse_address("[::ffff:10.0.0.7]:80"), parse_address("10.0.0.7:80"));
}

}  // namespace
}  // namespace tagferry::transport
