#include "transport/net/client_link.hpp"

#include "tests/support/frame_engine.hpp"
#include "transport/net/listener.hpp"
#include "transport/net/name_lookup.hpp"
#include "transport/net/socket.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"
#include "transport/threads/worker_pool.hpp"
#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;
using testing::make_frame;

using states = std::vector<link_state>;

/// A link and, where wanted, a listener for it, on one shard without a thread, time moved by hand.
class client_link_test : public ::testing::Test, public engine_factory, public link_observer {
  protected:
    client_link_test()
        : counters_("link"), home_({.name = "link"}, clock_), workers_({.name = "lookup"}) {
        options_.host = "127.0.0.1";
        options_.back_off_seed = 1;
        options_.connection.counters = &counters_;
    }
    ~client_link_test() override {
        link_.reset();
        listener_.reset();
        workers_.stop();
        home_.poll_here();
    }

    void listen(std::uint16_t port = 0) {
        listener_options wished;
        wished.addresses = {*parse_host("127.0.0.1", port)};
        wished.connection.counters = &counters_;
        listener_ = std::make_unique<listener>(home_, wished, *this);
        listener_->start();
        options_.port = listener_->bound()[0].port;
    }
    /// A port where nobody listens.
    void nobody() {
        listen();
        listener_.reset();
    }
    void make() { link_ = std::make_unique<client_link>(home_, workers_, options_, client_, this); }
    void in_a_turn(const std::function<void()>& call) {
        const turn_scope turn(home_);
        call();
    }
    void start() {
        in_a_turn([&] { link_->start(); });
        settle();
    }
    /// The loopback needs a moment between a connect and its report.
    void settle() {
        home_.poll_here();
        home_.poll_here();
    }
    void pass(duration step) {
        clock_.advance(step);
        home_.wake();
        settle();
    }
    link_state state() const { return link_->status().state; }

    std::unique_ptr<engine> make_engine(const peer_info&) override {
        auto made = std::make_unique<testing::frame_engine>();
        made->echoes = true;
        server_ = made.get();
        return made;
    }
    void link_changed(const link_status& status) override {
        seen_.push_back(status.state);
        if (on_change_) {
            on_change_(status.state);
        }
    }

    manual_clock clock_;
    traffic counters_;
    shard home_;
    worker_pool workers_;
    client_link_options options_;
    testing::frame_engine client_;
    testing::frame_engine* server_ = nullptr;
    std::unique_ptr<listener> listener_;
    std::unique_ptr<client_link> link_;
    states seen_;
    std::function<void(link_state)> on_change_;
};

TEST_F(client_link_test, connects_and_the_client_speaks_first) {
    listen();
    client_.on_opened = [this] { client_.queue(make_frame(50)); };
    make();
    EXPECT_EQ(state(), link_state::stopped);
    start();
    EXPECT_EQ(state(), link_state::up);
    settle();
    EXPECT_EQ(client_.frames, std::vector<testing::byte_string>{make_frame(50)});
    EXPECT_EQ(seen_, (states{link_state::waiting, link_state::connecting, link_state::up}));
    EXPECT_EQ(link_->status().attempts, 1u);
    EXPECT_EQ(link_->status().successes, 1u);
    EXPECT_EQ(link_->status().peer, listener_->bound()[0]);
    EXPECT_EQ(client_.violations, std::vector<std::string>{});
}

TEST_F(client_link_test, may_be_started_before_its_shard) {
    listen();
    make();
    link_->start();
    settle();
    EXPECT_EQ(state(), link_state::up);
}

TEST_F(client_link_test, tries_for_ever_with_doubling_waits_and_one_attempt_at_a_time) {
    nobody();
    make();
    start();
    double expected_ms = 500;
    for (std::uint64_t attempt = 1; attempt <= 12; ++attempt) {
        ASSERT_EQ(state(), link_state::waiting);
        EXPECT_EQ(link_->status().attempts, attempt);
        EXPECT_EQ(link_->status().last_close.reason, close_reason::connect_failed);
        EXPECT_EQ(link_->status().last_close.error, std::errc::connection_refused);
        const std::chrono::duration<double, std::milli> wait =
            link_->status().next_attempt - clock_.now();
        EXPECT_LE(wait.count(), expected_ms);
        EXPECT_GE(wait.count(), expected_ms * 0.75);
        expected_ms = std::min(expected_ms * 2, 5000.0);
        pass(link_->status().next_attempt - clock_.now() - 2ms);
        EXPECT_EQ(link_->status().attempts, attempt);
        pass(4ms);
    }
    EXPECT_EQ(counters_.connect_failures.value(), 13u);
    EXPECT_EQ(client_.opens, 0u);
    EXPECT_EQ(client_.closes.size(), 0u);
}

TEST_F(client_link_test, comes_back_by_itself_when_the_peer_does) {
    listen();
    const std::uint16_t port = options_.port;
    make();
    start();
    ASSERT_EQ(state(), link_state::up);
    listener_.reset();
    settle();
    EXPECT_EQ(state(), link_state::waiting);
    EXPECT_EQ(client_.closes.size(), 1u);
    listen(port);
    pass(5s);
    EXPECT_EQ(state(), link_state::up);
    EXPECT_EQ(client_.opens, 2u);
    EXPECT_EQ(client_.violations, std::vector<std::string>{});
}

TEST_F(client_link_test, stop_flushes_what_is_queued) {
    listen();
    make();
    start();
    in_a_turn([&] {
        client_.queue(make_frame(60));
        link_->stop();
        EXPECT_EQ(state(), link_state::stopping);
    });
    settle();
    settle();
    EXPECT_EQ(state(), link_state::stopped);
    ASSERT_EQ(client_.closes.size(), 1u);
    EXPECT_EQ(client_.closes[0].reason, close_reason::requested);
    EXPECT_EQ(client_.reported_good(), 1u);
    pass(1h);
    EXPECT_EQ(link_->status().attempts, 1u);
}

TEST_F(client_link_test, stop_and_start_in_every_state) {
    nobody();
    make();
    in_a_turn([&] { link_->stop(); });
    EXPECT_EQ(state(), link_state::stopped);
    in_a_turn([&] {
        link_->start();
        link_->stop();  // waiting for the first attempt
    });
    settle();
    EXPECT_EQ(state(), link_state::stopped);
    EXPECT_EQ(link_->status().attempts, 0u);
    start();
    EXPECT_EQ(state(), link_state::waiting);
    in_a_turn([&] { link_->stop(); });
    pass(1h);
    EXPECT_EQ(state(), link_state::stopped);
    EXPECT_EQ(link_->status().attempts, 1u);
    listen(options_.port);
    start();
    ASSERT_EQ(state(), link_state::up);
    in_a_turn([&] {
        link_->stop();
        link_->start();  // while it is closing
    });
    settle();
    pass(1s);
    EXPECT_EQ(state(), link_state::up);
    EXPECT_EQ(client_.opens, 2u);
}

TEST_F(client_link_test, restart_drops_a_wait_and_a_connection) {
    nobody();
    make();
    start();
    pass(1s);
    pass(2s);
    const auto before = link_->status().attempts;
    in_a_turn([&] { link_->restart(); });
    pass(1ms);
    EXPECT_EQ(link_->status().attempts, before + 1);
    EXPECT_LE(link_->status().next_attempt - clock_.now(), 500ms) << "a fresh back-off";
    listen(options_.port);
    in_a_turn([&] { link_->restart(); });
    pass(1ms);
    ASSERT_EQ(state(), link_state::up);
    in_a_turn([&] { link_->restart(); });
    settle();
    pass(1ms);
    EXPECT_EQ(state(), link_state::up);
    EXPECT_EQ(client_.opens, 2u);
    ASSERT_EQ(client_.closes.size(), 1u);
    EXPECT_EQ(client_.closes[0].reason, close_reason::requested);
}

TEST_F(client_link_test, an_observer_may_call_the_link_from_every_state) {
    listen();
    make();
    for (const link_state when : {link_state::waiting, link_state::connecting, link_state::up}) {
        on_change_ = [&, when](link_state now) {
            if (now == when) {
                on_change_ = nullptr;
                link_->stop();
            }
        };
        start();
        settle();
        pass(3s);
        EXPECT_EQ(state(), link_state::stopped) << name_of(when);
    }
    EXPECT_EQ(client_.violations, std::vector<std::string>{});
}

TEST_F(client_link_test, an_attempt_without_an_answer_ends_at_the_connect_timeout) {
    // A listening socket whose queue is full leaves further connects without an answer.
    const owned_descriptor full = open_listening(*parse_address("127.0.0.1:0"), 0);
    options_.port = local_address(full.get()).port;
    std::vector<owned_descriptor> queued;
    for (int i = 0; i < 4; ++i) {
        std::error_code error;
        queued.push_back(open_socket(local_address(full.get()), error));
        socket_address raw = to_socket_address(local_address(full.get()));
        ::connect(queued.back().get(), raw.generic(), raw.size);
    }
    make();
    start();
    ASSERT_EQ(state(), link_state::connecting);
    pass(2900ms);
    EXPECT_EQ(state(), link_state::connecting);
    pass(200ms);
    EXPECT_EQ(state(), link_state::waiting);
    EXPECT_EQ(link_->status().last_close.error, std::errc::timed_out);
}

TEST_F(client_link_test, a_name_is_looked_up_on_the_worker_pool) {
    listen();
    options_.host = "localhost";
    workers_.start();
    make();
    start();
    const auto patience = std::chrono::steady_clock::now() + 20s;
    while (state() != link_state::up && std::chrono::steady_clock::now() < patience) {
        std::this_thread::yield();
        settle();
    }
    EXPECT_EQ(state(), link_state::up);
    EXPECT_EQ(seen_[1], link_state::resolving);
}

TEST_F(client_link_test, a_lookup_that_hangs_ends_the_attempt_and_is_not_repeated_beside_itself) {
    options_.host = "localhost";
    make();  // the workers do not run: no answer
    start();
    EXPECT_EQ(state(), link_state::resolving);
    pass(3100ms);
    EXPECT_EQ(state(), link_state::waiting);
    EXPECT_TRUE(is_silent_name_server(link_->status().last_close.error));
    pass(600ms);
    EXPECT_EQ(state(), link_state::resolving);
    // Destroyed while the look-up is queued; what comes later finds nobody.
    link_.reset();
    workers_.start();
    workers_.stop();
    EXPECT_EQ(workers_.statistics().run + workers_.statistics().cancelled, 1u);
}

TEST_F(client_link_test, destruction_closes_an_open_connection) {
    listen();
    make();
    start();
    link_.reset();
    ASSERT_EQ(client_.closes.size(), 1u);
    EXPECT_EQ(client_.closes[0].reason, close_reason::shutting_down);
    settle();
    EXPECT_TRUE(listener_->idle());
}

}  // namespace
}  // namespace tagferry::transport
