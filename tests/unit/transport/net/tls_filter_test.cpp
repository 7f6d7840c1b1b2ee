#include "transport/net/tls_filter.hpp"

#include "tests/support/driver_rig.hpp"
#include "tests/support/test_certificate.hpp"
#include "transport/net/client_link.hpp"
#include "transport/net/listener.hpp"
#include "transport/threads/worker_pool.hpp"

#include <gtest/gtest.h>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;
using testing::byte_string;
using testing::frame_engine;
using testing::make_frame;
using testing::test_certificate;

const test_certificate& own() {
    static const test_certificate made("localhost");
    return made;
}

/// One side: its engine inside a filter, under a driver over a scripted stream.
struct side final : public driver_owner {
    side(shard& owner, traffic& count, const tls_context& context, const std::string& name = {},
         pinned_pool* large = nullptr)
        : home(owner), counters(count) {
        auto made = std::make_unique<frame_engine>();
        engine = made.get();
        filter = make_tls_filter(context, std::move(made), large, name);
    }
    ~side() {
        if (driver != nullptr) {
            const turn_scope turn(home);
            driver->shut(close_reason::shutting_down, home.now());
        }
    }
    void open() {
        const turn_scope turn(home);
        driver = std::make_unique<testing::driver_rig::driver_type>(
            home, *filter, *this, driver_options{.counters = &counters}, lines);
        driver->open(home.now());
    }
    bool tell_once() {
        if (lines.watcher == nullptr) {
            return false;
        }
        const std::uint32_t events = (lines.interest.readable && lines.readable() ? EPOLLIN : 0U) |
                                     (lines.interest.writable && lines.writable() ? EPOLLOUT : 0U);
        if (events != 0) {
            const turn_scope turn(home);
            lines.watcher->ready(readiness(events));
        }
        return events != 0;
    }
    void driver_finished(const close_info& info, time_point) override {
        ended.push_back(info);
        driver.reset();
    }

    shard& home;
    traffic& counters;
    testing::script lines;
    frame_engine* engine = nullptr;
    std::unique_ptr<transport::engine> filter;
    std::unique_ptr<testing::driver_rig::driver_type> driver;
    std::vector<close_info> ended;
};

/// Both sides on one shard, what one sends arriving at the other.
class tls_filter_test : public ::testing::Test {
  protected:
    tls_filter_test()
        : counters_("tls"),
          home_({.name = "tls"}, clock_),
          server_context_(tls_context::role::server, own().certificate_pem, own().key_pem, {}),
          client_context_(tls_context::role::client, {}, {}, own().certificate_pem),
          server_(home_, counters_, server_context_),
          client_(home_, counters_, client_context_, "localhost") {
        server_.engine->echoes = true;
    }

    /// Carries at most `most` bytes each way. @return whether anything moved.
    bool carry(std::size_t most) {
        const bool to_server = move(client_.lines, server_.lines, most);
        return move(server_.lines, client_.lines, most) || to_server;
    }
    static bool move(testing::script& from, testing::script& to, std::size_t most) {
        const auto count = static_cast<std::ptrdiff_t>(std::min(most, from.outbound.size()));
        to.receive({from.outbound.data(), static_cast<std::size_t>(count)});
        from.outbound.erase(from.outbound.begin(), from.outbound.begin() + count);
        if (from.closed && from.outbound.empty() && !to.peer_ended) {
            to.peer_ended = true;
            return true;
        }
        if (from.sending_shut && from.outbound.empty()) {
            to.peer_ended = true;
        }
        return count != 0;
    }
    void run(std::size_t most = testing::script::no_limit) {
        bool moved = true;
        while (moved) {
            home_.poll_here();
            moved = carry(most);
            while (server_.tell_once() || client_.tell_once()) {
                moved = true;
            }
            home_.poll_here();
        }
    }
    void open() {
        server_.open();
        client_.open();
    }
    /// A handshake of another client with the server, for as many round trips as any may take.
    void greet(side& client) {
        server_.open();
        client.open();
        for (int i = 0; i < 10; ++i) {
            move(client.lines, server_.lines, testing::script::no_limit);
            move(server_.lines, client.lines, testing::script::no_limit);
            while (server_.tell_once() || client.tell_once()) {
            }
            home_.poll_here();
        }
    }
    void in_a_turn(const std::function<void()>& call) {
        const turn_scope turn(home_);
        call();
    }
    void expect_promises_kept() {
        EXPECT_EQ(server_.engine->violations, std::vector<std::string>{});
        EXPECT_EQ(client_.engine->violations, std::vector<std::string>{});
    }
    void say(side& from, const byte_string& message) {
        in_a_turn([&] {
            from.engine->queue(message);
            from.engine->host->output_ready();
        });
    }

    manual_clock clock_;
    traffic counters_;
    shard home_;
    tls_context server_context_;
    tls_context client_context_;
    side server_;
    side client_;
};

TEST_F(tls_filter_test, echoes_through_a_checked_tls_1_3_session) {
    client_.engine->on_opened = [this] { client_.engine->queue(make_frame(100)); };
    open();
    run();
    EXPECT_EQ(server_.engine->frames, std::vector<byte_string>{make_frame(100)});
    EXPECT_EQ(client_.engine->frames, std::vector<byte_string>{make_frame(100)});
    EXPECT_EQ(client_.engine->reported_good(), 1u);
    EXPECT_EQ(client_.engine->reports[0].bytes, 100u) << "the inner size, not the record's";
    expect_promises_kept();
}

TEST_F(tls_filter_test, works_when_split_at_every_byte) {
    client_.engine->on_opened = [this] { client_.engine->queue(make_frame(40)); };
    open();
    run(1);
    EXPECT_EQ(client_.engine->frames, std::vector<byte_string>{make_frame(40)});
    expect_promises_kept();
}

TEST_F(tls_filter_test, large_amounts_pass_with_writes_torn_and_blocked) {
    open();
    run();
    std::size_t total = 0;
    std::vector<byte_string> sent;
    in_a_turn([&] {
        for (unsigned i = 0; i < 200; ++i) {
            sent.push_back(make_frame(4 + (i * 97) % 8000, i));
            total += sent.back().size();
            client_.engine->queue(sent.back());
        }
        client_.engine->host->output_ready();
    });
    for (unsigned i = 0; i < 50; ++i) {
        client_.lines.write_limits.push_back(1 + i * 37 % 5000);
        server_.lines.write_limits.push_back(1 + i * 53 % 3000);
    }
    run(1700);
    EXPECT_EQ(server_.engine->frames, sent);
    EXPECT_EQ(client_.engine->frames, sent);
    EXPECT_EQ(client_.engine->reported_good(), 200u);
    EXPECT_EQ(server_.engine->reported_good(), 200u);
    expect_promises_kept();
}

TEST_F(tls_filter_test, small_messages_of_a_turn_share_a_record) {
    open();
    run();
    const std::size_t writes = client_.lines.writes;
    in_a_turn([&] {
        for (unsigned i = 0; i < 20; ++i) {
            client_.engine->queue(make_frame(50, i));
        }
        client_.engine->host->output_ready();
    });
    EXPECT_EQ(client_.lines.writes, writes + 1);
    EXPECT_LT(client_.lines.outbound.size(), 1000u + 50u);
    run();
    EXPECT_EQ(client_.engine->frames.size(), 20u);
}

TEST_F(tls_filter_test, back_pressure_of_the_inner_engine_reaches_the_peer) {
    open();
    run();
    server_.engine->on_frame = [this] { server_.engine->wants = false; };
    for (unsigned i = 0; i < 10; ++i) {
        say(client_, make_frame(4000, i));
    }
    run();
    EXPECT_EQ(server_.engine->frames.size(), 1u);
    EXPECT_FALSE(server_.lines.inbound.empty()) << "not read from the socket";
    server_.engine->on_frame = nullptr;
    server_.engine->wants = true;
    in_a_turn([&] { server_.engine->host->output_ready(); });
    run();
    EXPECT_EQ(client_.engine->frames.size(), 10u);
    expect_promises_kept();
}

TEST_F(tls_filter_test, a_turn_limit_of_the_inner_engine_is_kept) {
    open();
    run();
    server_.engine->turn_limit = 1;
    in_a_turn([&] {
        for (unsigned i = 0; i < 5; ++i) {
            client_.engine->queue(make_frame(50, i));
        }
        client_.engine->host->output_ready();
    });
    carry(testing::script::no_limit);
    server_.tell_once();
    EXPECT_EQ(server_.engine->frames.size(), 1u);
    run();
    EXPECT_EQ(client_.engine->frames.size(), 5u);
    expect_promises_kept();
}

TEST_F(tls_filter_test, frames_over_staging_are_put_together_in_pooled_buffers) {
    pinned_pool pool({.name = "tls_large", .slot_size = 65'536, .slot_count = 1});
    side server(home_, counters_, server_context_, {}, &pool);
    server.open();
    client_.open();
    const auto join = [&] {
        bool moved = true;
        while (moved) {
            moved = move(client_.lines, server.lines, 5000);
            moved = move(server.lines, client_.lines, 5000) || moved;
            while (server.tell_once() || client_.tell_once()) {
                moved = true;
            }
            home_.poll_here();
        }
    };
    join();
    pooled_buffer taken = pool.rent();
    say(client_, make_frame(50'000, 1));
    say(client_, make_frame(60, 2));
    join();
    EXPECT_EQ(server.engine->frames.size(), 0u) << "waits for a buffer";
    in_a_turn([&] { taken.reset(); });
    join();
    EXPECT_EQ(server.engine->frames,
              (std::vector<byte_string>{make_frame(50'000, 1), make_frame(60, 2)}));
    EXPECT_EQ(pool.free_count(), 1u);
    EXPECT_EQ(server.engine->violations, std::vector<std::string>{});
}

TEST_F(tls_filter_test, a_close_says_so_and_is_told_from_a_cut) {
    open();
    run();
    in_a_turn([&] {
        client_.engine->queue(make_frame(30));
        client_.engine->host->close_after_flush(close_reason::requested);
    });
    run();
    EXPECT_EQ(server_.engine->frames.size(), 1u);
    ASSERT_EQ(server_.engine->closes.size(), 1u);
    EXPECT_EQ(server_.engine->closes[0].reason, close_reason::peer_closed);
    ASSERT_EQ(client_.engine->closes.size(), 1u);
    EXPECT_EQ(client_.engine->closes[0].reason, close_reason::requested);
    expect_promises_kept();
}

TEST_F(tls_filter_test, a_cut_connection_is_not_a_clean_close) {
    open();
    run();
    server_.lines.peer_ended = true;
    run();
    ASSERT_EQ(server_.engine->closes.size(), 1u);
    EXPECT_EQ(server_.engine->closes[0].reason, close_reason::peer_closed_mid_frame);
}

TEST_F(tls_filter_test, an_untrusted_server_is_refused_and_both_sides_end) {
    const test_certificate other("localhost");
    const tls_context suspicious(tls_context::role::client, {}, {}, other.certificate_pem);
    side client(home_, counters_, suspicious, "localhost");
    greet(client);
    EXPECT_EQ(client.engine->opens, 0u);
    EXPECT_EQ(client.engine->closes.size(), 0u) << "never opened, so never closed";
    ASSERT_EQ(client.ended.size(), 1u);
    EXPECT_EQ(client.ended[0].reason, close_reason::protocol_error);
    EXPECT_EQ(server_.ended.size(), 1u);
}

TEST_F(tls_filter_test, a_wrong_name_is_refused) {
    side client(home_, counters_, client_context_, "example.org");
    greet(client);
    EXPECT_EQ(client.engine->opens, 0u);
    EXPECT_EQ(client.ended.size(), 1u);
}

TEST_F(tls_filter_test, noise_instead_of_a_handshake_ends_it) {
    server_.open();
    server_.lines.receive(make_frame(3000, 5));
    while (server_.tell_once()) {
    }
    home_.poll_here();
    server_.lines.peer_ended = true;
    while (server_.tell_once()) {
    }
    ASSERT_EQ(server_.ended.size(), 1u);
    EXPECT_EQ(server_.ended[0].reason, close_reason::protocol_error);
    EXPECT_EQ(server_.engine->opens, 0u);
}

TEST_F(tls_filter_test, a_handshake_that_stalls_is_timed_out) {
    server_.open();
    clock_.advance(10s + sweep_interval);
    home_.wake();
    home_.poll_here();
    ASSERT_EQ(server_.ended.size(), 1u);
    EXPECT_EQ(server_.ended[0].reason, close_reason::timed_out);
}

TEST_F(tls_filter_test, may_be_shut_at_every_step_of_the_handshake_and_after) {
    for (int steps = 0; steps < 24; ++steps) {
        side server(home_, counters_, server_context_);
        side client(home_, counters_, client_context_, "localhost");
        server.engine->echoes = true;
        client.engine->on_opened = [&] { client.engine->queue(make_frame(100)); };
        server.open();
        client.open();
        for (int i = 0; i < steps; ++i) {
            move(client.lines, server.lines, 300);
            move(server.lines, client.lines, 300);
            (i % 2 == 0 ? server : client).tell_once();
        }
        {
            const turn_scope turn(home_);
            server.driver->shut(close_reason::shutting_down, home_.now());
        }
        EXPECT_EQ(server.engine->opens, server.engine->closes.size());
        EXPECT_EQ(server.engine->violations, std::vector<std::string>{});
    }
}

TEST(tls_context, says_what_is_wrong_with_its_files) {
    const auto text_of = [](const std::string& certificate, const std::string& key) {
        try {
            const tls_context made(tls_context::role::server, certificate, key, {});
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const test_certificate other("localhost");
    EXPECT_EQ(text_of(own().certificate_pem, own().key_pem), "");
    EXPECT_NE(text_of("nonsense", own().key_pem).find("certificate"), std::string::npos);
    EXPECT_NE(text_of(own().certificate_pem, "nonsense").find("private key"), std::string::npos);
    EXPECT_NE(text_of(own().certificate_pem, other.key_pem).find("private key"), std::string::npos);
}

// The whole way: listener, filters, drivers and client link over real sockets.
class tls_over_tcp : public ::testing::Test, public engine_factory {
  protected:
    std::unique_ptr<engine> make_engine(const peer_info&) override {
        auto made = std::make_unique<frame_engine>();
        made->echoes = true;
        return make_tls_filter(server_context_, std::move(made));
    }

    tls_context server_context_{
        tls_context::role::server, own().certificate_pem, own().key_pem, {}};
    tls_context client_context_{tls_context::role::client, {}, {}, own().certificate_pem};
};

TEST_F(tls_over_tcp, echoes) {
    const manual_clock clock;
    traffic counters("tls_tcp");
    shard home({.name = "tls_tcp"}, clock);
    worker_pool workers({.name = "unused"});
    listener_options options;
    options.addresses = {*parse_address("127.0.0.1:0")};
    options.connection.counters = &counters;
    listener server(home, options, *this);
    server.start();
    auto made = std::make_unique<frame_engine>();
    frame_engine& engine = *made;
    engine.on_opened = [&] {
        for (unsigned i = 0; i < 100; ++i) {
            engine.queue(make_frame(5000, i));
        }
    };
    const auto filter = make_tls_filter(client_context_, std::move(made), nullptr, "localhost");
    client_link_options wished;
    wished.host = "127.0.0.1";
    wished.port = server.bound()[0].port;
    wished.connection.counters = &counters;
    client_link link(home, workers, wished, *filter);
    link.start();
    for (int i = 0; i < 1000 && engine.frames.size() < 100; ++i) {
        home.poll_here();
    }
    ASSERT_EQ(engine.frames.size(), 100u);
    EXPECT_EQ(engine.frames[99], make_frame(5000, 99));
    EXPECT_EQ(engine.violations, std::vector<std::string>{});
}

}  // namespace
}  // namespace tagferry::transport
