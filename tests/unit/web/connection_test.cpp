// The life of an HTTP connection: keep-alive, pipelining, bodies, versions, methods, deadlines.
#include "tests/unit/web/web_fixture.hpp"

namespace tagferry::web::testing {
namespace {

using connection_test = web_test;

TEST_F(connection_test, answers_one_value_with_a_minimal_head) {
    const answer got = get("/api/v1/values/press/count");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.field("content-type"), "application/json");
    EXPECT_EQ(got.field("cache-control"), "no-store");
    EXPECT_EQ(got.field("x-content-type-options"), "nosniff");
    EXPECT_EQ(got.fields.size(), 4U);
    EXPECT_EQ(got.json()["value"], -7);
}

TEST_F(connection_test, keeps_the_connection_alive) {
    auto& connection = connect();
    for (int i = 0; i < 3; ++i) {
        connection.send(request("/api/v1/values/press/count"), now());
        std::string wire = connection.take();
        EXPECT_EQ(take_answers(wire).size(), 1U);
        EXPECT_FALSE(connection.closing());
    }
}

// A head that repeats the one before is not parsed again; whatever differs is.
TEST_F(connection_test, a_repeated_head_is_answered_alike_and_others_are_not_mistaken_for_it) {
    auto& connection = connect();
    const auto ask = [&](const std::string& wire) {
        connection.send(wire, now());
        return connection.take();
    };
    const std::string one = request("/api/v1/values/press/count");
    const std::string open = one.substr(0, one.size() - 2);
    const std::string first = ask(one);
    EXPECT_TRUE(first.starts_with("HTTP/1.1 200 "));
    EXPECT_EQ(ask(one), first);
    EXPECT_EQ(ask(one + one), first + first);
    EXPECT_EQ(ask(open + "X-More: 1\r\n\r\n"), first);
    EXPECT_TRUE(ask(request("/api/v1/values/press/coun")).starts_with("HTTP/1.1 404 "));
    EXPECT_EQ(ask(one), first);
    EXPECT_EQ(ask(open + "X-Long: " + std::string(600, 'x') + "\r\n\r\n"), first);
    EXPECT_EQ(ask(one), first);
    EXPECT_EQ(ask(one.substr(0, 20)), "");
    EXPECT_EQ(ask(one.substr(20)), first);
    EXPECT_TRUE(ask(open + "Connection: close\r\n\r\n").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(connection.closing());
}

// What was found for the head before counts as long as the tags are the same.
TEST_F(connection_test, a_repeated_head_finds_what_a_new_configuration_made_of_its_path) {
    auto& connection = connect();
    const auto ask = [&] {
        connection.send(request("/api/v1/values/press/count"), now());
        return connection.take();
    };
    const auto tag = std::ranges::find(above.values.tags, "press/count", &fake_tag::path);
    ASSERT_NE(tag, above.values.tags.end());
    EXPECT_TRUE(ask().starts_with("HTTP/1.1 200 "));
    tag->bytes.front() ^= std::byte{1};
    const std::string changed = ask();
    EXPECT_TRUE(changed.starts_with("HTTP/1.1 200 "));
    tag->path = "press/renamed";
    ++above.values.model_revision;
    EXPECT_TRUE(ask().starts_with("HTTP/1.1 404 "));
    EXPECT_TRUE(ask().starts_with("HTTP/1.1 404 "));
    std::swap(above.values.tags.back().path, tag->path);
    above.values.tags.back().path = "press/count";
    ++above.values.model_revision;
    const std::string other = ask();
    EXPECT_TRUE(other.starts_with("HTTP/1.1 200 "));
    EXPECT_NE(other, changed);
    EXPECT_EQ(ask(), other);
}

TEST_F(connection_test, splits_at_every_byte_change_nothing) {
    const std::string two = request("/api/v1/values/press/count") + "\r\n" +
                            request("/healthz", "POST", "Content-Length: 5\r\n") + "12345" +
                            request("/api/v1/values", "POST", "Transfer-Encoding: chunked\r\n") +
                            "3;x=\"y\"\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n" +
                            request("/api/v1/values?tag=press/count");
    const std::string whole = exchange_raw(two);
    std::string copy = whole;
    ASSERT_EQ(take_answers(copy).size(), 4U);
    for (std::size_t split = 1; split < two.size(); ++split) {
        auto& connection = connect();
        connection.send(two.substr(0, split), now());
        connection.send(two.substr(split), now());
        EXPECT_EQ(connection.take(), whole) << "split at " << split;
    }
    auto& dribbled = connect();
    for (const char byte : two) {
        dribbled.send({&byte, 1}, now());
    }
    EXPECT_EQ(dribbled.take(), whole);
}

TEST_F(connection_test, pipelined_requests_are_answered_in_order_in_one_write) {
    auto& connection = connect();
    std::string burst;
    for (int i = 0; i < 20; ++i) {
        burst += request(i % 2 == 0 ? "/api/v1/values/press/count" : "/nowhere");
    }
    connection.send(burst, now());
    EXPECT_EQ(connection.writes(), 1U);
    std::string wire = connection.take();
    const auto answers = take_answers(wire);
    ASSERT_EQ(answers.size(), 20U);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        EXPECT_EQ(answers[i].status, i % 2 == 0 ? 200 : 404);
    }
}

TEST_F(connection_test, a_deferred_answer_holds_back_the_later_ones) {
    auto& connection = connect();
    connection.send(request("/api/v1/values/press/count?max_age=0") +
                        request("/api/v1/values/press/tank/level"),
                    now());
    EXPECT_EQ(connection.take(), "");
    EXPECT_FALSE(connection.engine().wants_input().wanted);
    ASSERT_EQ(above.values.refreshes.size(), 1U);
    const auto refresh = above.values.refreshes.front();
    above.values.tags[1].bytes = bytes_of(std::int32_t{8});
    refresh.sink->resume(refresh.token, static_cast<std::uint32_t>(outcome::done), now());
    connection.turn(now());
    std::string wire = connection.take();
    const auto answers = take_answers(wire);
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].json()["value"], 8);
    EXPECT_EQ(answers[1].json()["value"], 1.5);
}

TEST_F(connection_test, a_stale_resume_is_ignored) {
    auto& connection = connect();
    connection.send(request("/api/v1/values/press/count?max_age=0"), now());
    const auto refresh = above.values.refreshes.at(0);
    connection.engine().resume({refresh.token.index, refresh.token.generation + 1}, 0, now());
    connection.turn(now());
    EXPECT_EQ(connection.take(), "");
    refresh.sink->resume(refresh.token, static_cast<std::uint32_t>(outcome::done), now());
    connection.turn(now());
    EXPECT_NE(connection.take(), "");
    refresh.sink->resume(refresh.token, static_cast<std::uint32_t>(outcome::done), now());
    connection.turn(now());
    EXPECT_EQ(connection.take(), "");
}

TEST_F(connection_test, a_device_that_does_not_answer_gives_504_and_the_connection_goes_on) {
    auto& connection = connect();
    connection.send(request("/api/v1/values/press/count?max_age=0"), now());
    above.clock.advance(std::chrono::seconds(13));
    connection.tick(now());
    std::string wire = connection.take();
    const auto answers = take_answers(wire);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].status, 504);
    EXPECT_EQ(above.values.cancelled, 1U);
    connection.send(request("/healthz"), now());
    EXPECT_TRUE(connection.take().starts_with("HTTP/1.1 200"));
}

TEST_F(connection_test, a_cut_while_waiting_gives_the_operation_up) {
    auto& connection = connect();
    connection.send(request("/api/v1/values/press/count?max_age=0"), now());
    ASSERT_EQ(above.values.refreshes.size(), 1U);
    connection.cut(now());
    EXPECT_EQ(above.values.cancelled, 1U);
    EXPECT_TRUE(above.values.refreshes.empty());
}

TEST_F(connection_test, http_1_0_closes_unless_asked_to_keep_alive) {
    auto& closing = connect();
    closing.send("GET /healthz HTTP/1.0\r\n\r\n", now());
    EXPECT_TRUE(closing.ended());
    EXPECT_EQ(closing.take().find("Connection:"), std::string::npos);
    auto& keeping = connect();
    keeping.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", now());
    EXPECT_FALSE(keeping.ended());
    EXPECT_NE(keeping.take().find("Connection: keep-alive\r\n"), std::string::npos);
}

TEST_F(connection_test, connection_close_is_obeyed_and_nothing_after_it_answered) {
    auto& connection = connect();
    connection.send(request("/healthz", "GET", "Connection: close\r\n") + request("/healthz"),
                    now());
    std::string wire = connection.take();
    const auto answers = take_answers(wire);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].field("connection"), "close");
    EXPECT_TRUE(connection.ended());
    EXPECT_EQ(connection.reason(), transport::close_reason::requested);
}

TEST_F(connection_test, a_close_waits_until_a_large_answer_has_left) {
    above.values.largest = 64 * 1024;
    above.values.tags.push_back({.path = "mill/table",
                                 .type = value_type::uint8,
                                 .array_length = 60'000,
                                 .bytes = std::vector<std::byte>(60'000, std::byte{255})});
    auto& connection = connect();
    connection.accept_writes(false);
    connection.send(request("/api/v1/values/mill/table", "GET", "Connection: close\r\n"), now());
    EXPECT_FALSE(connection.closing());
    connection.accept_writes(true);
    connection.turn(now());
    EXPECT_TRUE(connection.ended());
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).size(), 1U);
}

TEST_F(connection_test, head_gives_the_head_of_get) {
    const answer head = get("/api/v1/values/press/count", "HEAD");
    const answer full = get("/api/v1/values/press/count");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.fields, full.fields);
}

TEST_F(connection_test, options_says_what_a_path_takes) {
    const answer one = get("/api/v1/values", "OPTIONS");
    EXPECT_EQ(one.status, 204);
    EXPECT_EQ(one.field("allow"), "GET, HEAD, OPTIONS");
    EXPECT_EQ(get("*", "OPTIONS").status, 204);
    EXPECT_EQ(get("/nowhere", "OPTIONS").status, 404);
}

TEST_F(connection_test, a_method_the_path_does_not_take_is_405_with_allow) {
    const answer got = get("/api/v1/values/press/count", "DELETE");
    EXPECT_EQ(got.status, 405);
    EXPECT_EQ(got.field("allow"), "PUT, GET, HEAD, OPTIONS");
    EXPECT_EQ(got.field("content-type"), "application/problem+json");
    EXPECT_EQ(got.json()["type"], "urn:tagferry:problem:method_not_allowed");
    EXPECT_EQ(got.json()["status"], 405);
    EXPECT_EQ(get("/healthz", "BREW").status, 501);
}

TEST_F(connection_test, expect_continue_is_answered_before_the_body) {
    auto& connection = connect();
    connection.send(request("/healthz", "POST", "Content-Length: 3\r\nExpect: 100-continue\r\n"),
                    now());
    EXPECT_EQ(connection.take(), "HTTP/1.1 100 Continue\r\n\r\n");
    connection.send("abc", now());
    EXPECT_TRUE(connection.take().starts_with("HTTP/1.1 405 "));
    EXPECT_EQ(get("/healthz", "GET", "Expect: coffee\r\n").status, 417);
}

TEST_F(connection_test, absolute_targets_are_served) {
    EXPECT_EQ(get("http://localhost:8080/api/v1/values/press/count").json()["value"], -7);
    EXPECT_EQ(get("http://localhost?x").status, 404);
}

TEST_F(connection_test, an_idle_connection_is_closed_without_a_word) {
    auto& connection = connect();
    connection.send(request("/healthz"), now());
    connection.take();
    above.clock.advance(std::chrono::milliseconds{options.limits.idle_timeout_ms});
    connection.tick(now());
    EXPECT_TRUE(connection.ended());
    EXPECT_EQ(connection.take(), "");
    EXPECT_EQ(connection.reason(), transport::close_reason::timed_out);
}

TEST_F(connection_test, a_slow_head_or_body_is_answered_408) {
    auto& slow_head = connect();
    slow_head.send("GET /healthz HT", now());
    above.clock.advance(std::chrono::seconds(5));
    slow_head.send("TP/1.1\r\n", now());
    above.clock.advance(std::chrono::seconds(5));
    slow_head.tick(now());
    EXPECT_TRUE(slow_head.take().starts_with("HTTP/1.1 408 "));
    EXPECT_TRUE(slow_head.ended());
    auto& slow_body = connect();
    slow_body.send(request("/healthz", "POST", "Content-Length: 3\r\n") + "a", now());
    above.clock.advance(std::chrono::milliseconds{options.limits.body_timeout_ms});
    slow_body.tick(now());
    const std::string refused = slow_body.take();
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 408 ")) << refused;
}

TEST_F(connection_test, a_peer_that_does_not_read_is_cut) {
    auto& connection = connect();
    connection.accept_writes(false);
    connection.send(request("/healthz"), now());
    above.clock.advance(std::chrono::milliseconds{options.limits.send_timeout_ms});
    connection.tick(now());
    EXPECT_TRUE(connection.ended());
    EXPECT_EQ(connection.reason(), transport::close_reason::timed_out);
}

TEST_F(connection_test, a_peer_that_does_not_read_stops_being_read) {
    auto& connection = connect();
    connection.accept_writes(false);
    const std::string one = request("/api/v1/values/press/count");
    for (int i = 0; i < 2000; ++i) {
        connection.send(one, now());
    }
    EXPECT_FALSE(connection.engine().wants_input().wanted);
    EXPECT_GT(connection.unread(), one.size());
    connection.accept_writes(true);
    connection.turn(now());
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).size(), 2000U);
    EXPECT_EQ(connection.unread(), 0U);
}

TEST_F(connection_test, an_empty_output_pool_delays_and_loses_nothing) {
    options.limits.output_slots = 5;
    options.limits.connection_output_slots = 5;
    auto& first = connect();
    auto& second = connect();
    first.accept_writes(false);
    for (int i = 0; i < 600; ++i) {
        first.send(request("/api/v1/values/press/count"), now());
    }
    auto& third = connect();
    third.accept_writes(false);
    third.send(request("/healthz"), now());
    second.send(request("/healthz"), now());
    EXPECT_EQ(second.take(), "");
    first.accept_writes(true);
    third.accept_writes(true);
    for (int round = 0; round < 10; ++round) {
        first.turn(now());
        third.turn(now());
        second.turn(now());
    }
    std::string wire = second.take();
    EXPECT_EQ(take_answers(wire).size(), 1U);
    wire = first.take();
    EXPECT_EQ(take_answers(wire).size(), 600U);
    wire = third.take();
    EXPECT_EQ(take_answers(wire).size(), 1U);
}

// Each script is run again with the connection cut, or its time running out, after each step.
TEST_F(connection_test, failure_at_each_step_leaves_nothing_behind) {
    const std::vector<std::string> steps = {
        "GET /api/v1/values/press/co",
        "unt?max_age=0 HTTP/1.1\r\nHost: x\r\n\r\n",
        request("/api/v1/values?filter=**"),
        request("/metrics"),
        request("/api/v1/values", "POST", "Content-Length: 4\r\n"),
        "ab",
        "cd",
    };
    for (const bool by_time : {false, true}) {
        for (std::size_t failing = 0; failing <= steps.size() * 2; ++failing) {
            auto& connection = connect();
            for (std::size_t i = 0; i < steps.size() * 2; ++i) {
                if (i == failing) {
                    if (by_time) {
                        above.clock.advance(std::chrono::minutes(5));
                        connection.tick(now());
                    } else if (!connection.ended()) {
                        connection.cut(now());
                    }
                }
                if (i % 2 == 0) {
                    connection.send(steps[i / 2], now());
                    continue;
                }
                while (!above.values.refreshes.empty()) {
                    const auto refresh = above.values.refreshes.back();
                    above.values.refreshes.pop_back();
                    refresh.sink->resume(refresh.token, 0, now());
                }
                while (above.execution.run_one(now())) {
                }
                if (!connection.ended()) {
                    connection.turn(now());
                }
            }
            EXPECT_TRUE(above.values.refreshes.empty());
        }
    }
    // Every scrape slot and every pool slot is free again.
    for (int i = 0; i < 3; ++i) {
        auto& connection = connect();
        connection.send(request("/metrics"), now());
        EXPECT_EQ(above.execution.jobs.size(), 1U);
        while (above.execution.run_one(now())) {
        }
        connection.turn(now());
        EXPECT_TRUE(connection.take().starts_with("HTTP/1.1 200"));
    }
}

}  // namespace
}  // namespace tagferry::web::testing
