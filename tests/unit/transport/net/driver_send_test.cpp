// The send requirements that are the driver's, each under its name. TX1 and TX13 (sequence
// numbers) belong to the protocols, TX15 to tests/bench.
#include "tests/support/driver_rig.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;
using testing::byte_string;
using testing::driver_rig;
using testing::make_frame;

void append(byte_string& left, const byte_string& right) {
    left.insert(left.end(), right.begin(), right.end());
}

void expect_promises_kept(const driver_rig& rig) {
    EXPECT_EQ(rig.engine.violations, std::vector<std::string>{});
}

/// Queues messages outside any call of the driver, as a wake-up does.
void queue_in_a_turn(driver_rig& rig, const std::vector<byte_string>& messages) {
    rig.in_a_turn([&] {
        for (const auto& each : messages) {
            rig.engine.queue(each);
        }
        rig.engine.host->output_ready();
    });
}

TEST(tx2, what_queues_up_behind_a_blocked_socket_leaves_16_messages_a_write) {
    driver_rig rig({.high_water_bytes = 1 << 20});
    rig.open();
    rig.lines.write_limits = {0};
    byte_string expected = make_frame(100, 0);
    queue_in_a_turn(rig, {expected});
    EXPECT_EQ(rig.lines.writes, 1u);
    std::vector<byte_string> later;
    for (unsigned i = 1; i <= 40; ++i) {
        later.push_back(make_frame(100, i));
        append(expected, later.back());
    }
    queue_in_a_turn(rig, later);
    EXPECT_EQ(rig.lines.writes, 1u) << "never two writes at once";
    rig.settle();
    EXPECT_EQ(rig.lines.outbound, expected);
    EXPECT_EQ(rig.engine.reported_good(), 41u);
    // The blocked one alone, then 16 (after a blocked write), then the remaining 24 of a free one.
    EXPECT_EQ(rig.counters.writes.value(), 4u);
    EXPECT_EQ(rig.counters.longest_batch.value(), 24u);
    expect_promises_kept(rig);
}

TEST(tx2, a_message_over_every_cap_goes_alone_in_slices) {
    driver_rig rig;
    rig.open();
    const auto huge = make_frame(700'000);
    const auto next = make_frame(10);
    queue_in_a_turn(rig, {huge, next});
    rig.settle();
    byte_string expected = huge;
    append(expected, next);
    EXPECT_EQ(rig.lines.outbound, expected);
    EXPECT_EQ(rig.counters.writes.value(), 4u);
    EXPECT_EQ(rig.engine.reports.size(), 2u);
    EXPECT_EQ(rig.engine.reports[0].bytes, 700'000u);
    expect_promises_kept(rig);
}

TEST(tx2, a_turns_messages_leave_in_one_write) {
    driver_rig rig;
    rig.open();
    byte_string expected;
    std::vector<byte_string> messages;
    for (unsigned i = 0; i < 64; ++i) {
        messages.push_back(make_frame(50, i));
        append(expected, messages.back());
    }
    queue_in_a_turn(rig, messages);
    EXPECT_EQ(rig.lines.writes, 1u);
    EXPECT_EQ(rig.lines.most_pieces, 1u) << "small messages are copied flat";
    EXPECT_EQ(rig.lines.outbound, expected);
}

TEST(tx3, a_lone_message_leaves_at_the_end_of_its_turn) {
    driver_rig rig;
    rig.open();
    rig.engine.echoes = true;
    rig.receive(make_frame(64));
    rig.tell(EPOLLIN);
    EXPECT_EQ(rig.lines.outbound, make_frame(64)) << "no timer, no further turn";
    EXPECT_EQ(rig.engine.reports.size(), 1u);
    expect_promises_kept(rig);
}

TEST(tx4, a_partial_write_goes_on_from_the_exact_byte) {
    const std::vector<byte_string> segments = {make_frame(7, 1), make_frame(1500, 2),
                                               make_frame(4, 3), make_frame(2000, 4)};
    byte_string expected;
    for (const auto& each : segments) {
        append(expected, each);
    }
    for (std::size_t first = 1; first < expected.size(); first += first < 20 ? 1 : 97) {
        driver_rig rig;
        rig.open();
        rig.lines.write_limits = {first, 0, 1, 5};
        rig.in_a_turn([&] {
            rig.engine.queue(segments);
            rig.engine.host->output_ready();
        });
        rig.settle_all();
        EXPECT_EQ(rig.lines.outbound, expected) << "after " << first << " bytes";
        ASSERT_EQ(rig.engine.reports.size(), 1u);
        EXPECT_EQ(rig.engine.reports[0].bytes, expected.size());
        expect_promises_kept(rig);
    }
}

TEST(tx4, a_write_may_be_torn_at_every_byte) {
    byte_string expected;
    driver_rig rig;
    rig.open();
    std::vector<byte_string> messages;
    for (unsigned i = 0; i < 30; ++i) {
        messages.push_back(make_frame(4 + i * 3, i));
        append(expected, messages.back());
    }
    rig.lines.write_limits.assign(expected.size(), 1);
    queue_in_a_turn(rig, messages);
    rig.settle();
    EXPECT_EQ(rig.lines.outbound, expected);
    EXPECT_EQ(rig.engine.reported_good(), 30u);
    expect_promises_kept(rig);
}

TEST(tx5, each_message_is_reported_on_its_own_in_order_with_its_size) {
    driver_rig rig;
    rig.open();
    queue_in_a_turn(rig, {make_frame(10), make_frame(5000), make_frame(30), make_frame(4)});
    ASSERT_EQ(rig.engine.reports.size(), 4u);
    EXPECT_EQ(rig.engine.reports[0].bytes, 10u);
    EXPECT_EQ(rig.engine.reports[1].bytes, 5000u);
    EXPECT_EQ(rig.engine.reports[2].bytes, 30u);
    EXPECT_EQ(rig.engine.reports[3].bytes, 4u);
    expect_promises_kept(rig);  // among them: never inside pull or receive
}

TEST(tx5, a_message_of_a_torn_batch_is_reported_as_soon_as_it_has_left_whole) {
    driver_rig rig;
    rig.open();
    rig.lines.write_limits = {25, 0};
    queue_in_a_turn(rig, {make_frame(10, 1), make_frame(10, 2), make_frame(10, 3)});
    EXPECT_EQ(rig.engine.reports.size(), 2u);
    EXPECT_EQ(rig.driver->pending_messages(), 1u);
    EXPECT_EQ(rig.driver->pending_bytes(), 5u);
    rig.settle_all();
    EXPECT_EQ(rig.engine.reports.size(), 3u);
    EXPECT_EQ(rig.driver->pending_messages(), 0u);
    expect_promises_kept(rig);
}

TEST(tx6, a_torn_write_fails_the_split_message_and_all_later_ones_and_closes) {
    driver_rig rig;
    rig.open();
    rig.lines.write_limits = {25};
    rig.lines.fail_at_step = rig.lines.steps + 1;
    rig.lines.fail_with = EPIPE;
    queue_in_a_turn(rig,
                    {make_frame(10, 1), make_frame(10, 2), make_frame(10, 3), make_frame(10, 4)});
    rig.settle();
    ASSERT_EQ(rig.engine.reports.size(), 4u);
    EXPECT_FALSE(rig.engine.reports[0].error);
    EXPECT_FALSE(rig.engine.reports[1].error);
    EXPECT_EQ(rig.engine.reports[2].error, std::errc::broken_pipe);
    EXPECT_EQ(rig.engine.reports[2].bytes, 5u);
    EXPECT_EQ(rig.engine.reports[3].error, std::errc::broken_pipe);
    EXPECT_EQ(rig.engine.reports[3].bytes, 0u);
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::transport_error);
    EXPECT_TRUE(rig.lines.closed);
    expect_promises_kept(rig);
}

TEST(tx7, a_close_reports_every_queued_write_before_closed_and_nothing_after_destruction) {
    driver_rig rig;
    rig.open();
    rig.lines.write_limits = {3, 0};
    queue_in_a_turn(rig, {make_frame(10, 1), make_frame(10, 2), make_frame(10, 3)});
    EXPECT_EQ(rig.engine.reports.size(), 0u);
    rig.in_a_turn([&] { rig.engine.host->abort(close_reason::requested); });
    ASSERT_EQ(rig.engine.reports.size(), 3u);
    for (const auto& each : rig.engine.reports) {
        EXPECT_EQ(each.error, std::errc::connection_aborted);
    }
    EXPECT_EQ(rig.engine.reports[0].bytes, 3u);
    EXPECT_EQ(rig.finished, 1u);
    EXPECT_EQ(rig.driver, nullptr);
    rig.settle_all();
    rig.pass(1h);
    EXPECT_EQ(rig.engine.reports.size(), 3u);
    expect_promises_kept(rig);
}

TEST(tx8, a_last_message_is_flushed_then_input_drained_then_closed) {
    driver_rig rig;
    rig.open();
    rig.lines.write_limits = {4, 0};
    queue_in_a_turn(rig, {make_frame(10, 1)});
    rig.in_a_turn([&] {
        rig.engine.queue(make_frame(16, 2));
        rig.engine.host->close_after_flush(close_reason::protocol_error);
    });
    rig.receive(make_frame(5000));
    EXPECT_FALSE(rig.lines.sending_shut) << "queued behind what is in flight";
    rig.settle_all();
    byte_string expected = make_frame(10, 1);
    append(expected, make_frame(16, 2));
    EXPECT_EQ(rig.lines.outbound, expected);
    EXPECT_TRUE(rig.lines.sending_shut);
    EXPECT_TRUE(rig.lines.inbound.empty()) << "unread input would turn the close into a reset";
    EXPECT_FALSE(rig.lines.closed) << "the peer may still send";
    EXPECT_EQ(rig.engine.frames.size(), 0u) << "and is not listened to";
    rig.lines.peer_ended = true;
    rig.settle();
    EXPECT_TRUE(rig.lines.closed);
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::protocol_error);
    expect_promises_kept(rig);
}

TEST(tx8, the_drain_ends_at_its_deadline) {
    driver_rig rig({.linger_timeout = 2s});
    rig.open();
    rig.in_a_turn([&] { rig.engine.host->close_after_flush(close_reason::protocol_error); });
    rig.pass(1900ms);
    EXPECT_EQ(rig.finished, 0u);
    rig.pass(200ms);
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::protocol_error);
}

TEST(tx8, a_peer_that_takes_nothing_cannot_hold_the_close) {
    driver_rig rig({.linger_timeout = 2s});
    rig.open();
    rig.lines.write_limits = {0, 0, 0, 0};
    queue_in_a_turn(rig, {make_frame(10)});
    rig.in_a_turn([&] { rig.engine.host->close_after_flush(close_reason::protocol_error); });
    rig.pass(2100ms);
    EXPECT_EQ(rig.finished, 1u);
    ASSERT_EQ(rig.engine.reports.size(), 1u);
    EXPECT_TRUE(rig.engine.reports[0].error);
    expect_promises_kept(rig);
}

TEST(tx8, the_drain_is_bounded_in_bytes) {
    driver_rig rig({.linger_bytes = 20'000});
    rig.open();
    rig.in_a_turn([&] { rig.engine.host->close_after_flush(close_reason::protocol_error); });
    rig.receive(byte_string(100'000));
    rig.settle();
    EXPECT_EQ(rig.finished, 1u);
    EXPECT_GT(rig.lines.unread_at_close, 70'000u);
}

TEST(tx9, the_high_water_mark_stops_reading_and_the_low_one_resumes_it) {
    driver_rig rig({.high_water_bytes = 1000, .low_water_bytes = 100});
    rig.open();
    rig.lines.write_limits = {0};
    queue_in_a_turn(rig, {make_frame(1000)});
    EXPECT_EQ(rig.driver->pending_bytes(), 1000u);
    rig.receive(make_frame(20));
    rig.tell(EPOLLIN);
    EXPECT_EQ(rig.lines.reads, 0u);
    EXPECT_FALSE(rig.lines.interest.readable);

    rig.lines.write_limits = {899, 0};
    rig.tell(EPOLLOUT);
    EXPECT_EQ(rig.driver->pending_bytes(), 101u);
    rig.tell_once();
    EXPECT_EQ(rig.lines.reads, 0u) << "still over the low mark";

    rig.lines.write_limits = {1, 0};
    rig.tell(EPOLLOUT);
    EXPECT_EQ(rig.driver->pending_bytes(), 100u);
    EXPECT_TRUE(rig.lines.interest.readable);
    rig.tell(EPOLLIN);
    EXPECT_EQ(rig.engine.frames.size(), 1u) << "read while the write is still blocked";
    rig.settle_all();
    EXPECT_EQ(rig.driver->pending_bytes(), 0u);
    EXPECT_EQ(rig.counters.most_pending_bytes.value(), 1000u);
    expect_promises_kept(rig);
}

TEST(tx9, a_turn_limit_reached_over_the_high_water_mark_goes_on_under_the_low_one) {
    driver_rig rig({.high_water_bytes = 60, .low_water_bytes = 10});
    rig.open();
    rig.engine.echoes = true;
    rig.engine.turn_limit = 2;
    rig.lines.write_limits = {0};
    for (unsigned i = 0; i < 6; ++i) {
        rig.receive(make_frame(40, i));
    }
    rig.tell(EPOLLIN);
    rig.home.poll_here();
    EXPECT_EQ(rig.engine.frames.size(), 2u) << "the replies of two wait: no third is made";
    rig.settle_all();
    EXPECT_EQ(rig.engine.frames.size(), 6u);
    EXPECT_EQ(rig.lines.outbound.size(), 240u);
    expect_promises_kept(rig);
}

TEST(tx9, a_write_without_progress_ends_the_connection) {
    driver_rig rig({.write_timeout = 5s});
    rig.open();
    rig.lines.write_limits = {0, 0, 1, 0, 0, 0};
    queue_in_a_turn(rig, {make_frame(10)});
    rig.pass(4s);
    rig.lines.write_limits = {1, 0, 0};
    rig.settle();  // progress of one byte begins the time anew
    rig.pass(4s);
    EXPECT_EQ(rig.finished, 0u);
    rig.pass(1100ms);
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::timed_out);
}

TEST(tx10, counters_show_messages_writes_and_how_well_they_were_coalesced) {
    driver_rig rig;
    rig.open();
    rig.engine.echoes = true;
    for (unsigned i = 0; i < 16; ++i) {
        rig.receive(make_frame(64, i));
    }
    rig.settle();
    EXPECT_EQ(rig.counters.messages.value(), 16u);
    EXPECT_EQ(rig.counters.writes.value(), 1u);
    EXPECT_EQ(rig.counters.sent_bytes.value(), 1024u);
    EXPECT_EQ(rig.counters.reads.value(), 1u);
    EXPECT_EQ(rig.counters.received_bytes.value(), 1024u);
    EXPECT_EQ(rig.counters.batch_sizes[4].value(), 1u) << "9 to 16 messages";
    EXPECT_EQ(rig.counters.longest_batch.value(), 16u);
    rig.receive(make_frame(64));
    rig.settle();
    EXPECT_EQ(rig.counters.batch_sizes[0].value(), 1u);
    EXPECT_EQ(rig.counters.connections_open.value(), 1u);

    std::size_t found = 0;
    for_each_traffic(
        [](const traffic& each, void* context) {
            if (each.protocol() == "test" && each.messages.value() == 17) {
                ++*static_cast<std::size_t*>(context);
            }
        },
        &found);
    EXPECT_EQ(found, 1u) << "the metrics thread finds them by protocol";
}

TEST(tx10, large_messages_are_gathered_and_neighbours_joined) {
    driver_rig rig;
    rig.open();
    queue_in_a_turn(
        rig, {make_frame(3000, 1), make_frame(20, 2), make_frame(20, 3), make_frame(4000, 4)});
    EXPECT_EQ(rig.lines.most_pieces, 3u) << "large, two small side by side, large";
    EXPECT_EQ(rig.counters.gathered_writes.value(), 1u);
}

TEST(tx11, a_message_made_while_one_is_reported_goes_to_the_tail_in_the_same_turn) {
    driver_rig rig;
    rig.open();
    unsigned made = 0;
    rig.engine.on_written = [&] {
        if (made < 3) {
            rig.engine.queue(make_frame(10, 100 + made++));
        }
    };
    queue_in_a_turn(rig, {make_frame(10, 1), make_frame(10, 2)});
    byte_string expected;
    for (const unsigned seed : {1U, 2U, 100U, 101U, 102U}) {
        append(expected, make_frame(10, seed));
    }
    EXPECT_EQ(rig.lines.outbound, expected);
    EXPECT_EQ(rig.engine.reports.size(), 5u);
    expect_promises_kept(rig);
}

TEST(tx11, an_exception_of_a_report_is_contained_and_ends_its_connection_only) {
    driver_rig rig;
    rig.open();
    rig.engine.on_written = [&] { throw std::runtime_error("of a report"); };
    queue_in_a_turn(rig, {make_frame(10, 1), make_frame(10, 2), make_frame(10, 3)});
    EXPECT_FALSE(rig.home.healthy());
    EXPECT_EQ(rig.engine.reports.size(), 3u) << "the others are reported all the same";
    EXPECT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.finished, 1u);
    expect_promises_kept(rig);
}

TEST(tx11, an_exception_of_any_engine_call_ends_its_connection) {
    for (int which = 0; which < 4; ++which) {
        driver_rig rig;
        const auto throwing = [] { throw std::runtime_error("of an engine"); };
        rig.open();
        rig.engine.echoes = true;
        (which == 0   ? rig.engine.on_frame
         : which == 1 ? rig.engine.on_pull
         : which == 2 ? rig.engine.on_written
                      : rig.engine.on_expire) = throwing;
        rig.engine.due = rig.clock.now() + 1s;
        rig.receive(make_frame(20));
        rig.settle();
        rig.pass(2s);
        EXPECT_EQ(rig.engine.closes.size(), 1u) << which;
        EXPECT_EQ(rig.finished, 1u) << which;
        EXPECT_EQ(rig.home.statistics().faults + rig.exceptions, 1u) << which;
        expect_promises_kept(rig);
    }
}

TEST(tx12, a_message_queued_when_the_connection_has_failed_is_reported_like_any_other) {
    driver_rig rig;
    rig.open();
    rig.lines.fail_at_step = rig.lines.steps;
    std::size_t reports_in_turn = 99;
    rig.in_a_turn([&] {
        rig.engine.queue(make_frame(10));
        rig.engine.host->output_ready();
        reports_in_turn = rig.engine.reports.size();
    });
    EXPECT_EQ(reports_in_turn, 0u) << "never on the issuer's stack";
    ASSERT_EQ(rig.engine.reports.size(), 1u);
    EXPECT_EQ(rig.engine.reports[0].error, std::errc::connection_reset);
    EXPECT_EQ(rig.engine.closes.size(), 1u);
    expect_promises_kept(rig);
}

TEST(driver, an_abort_resets_the_connection_only_where_that_is_wished) {
    for (const bool wished : {false, true}) {
        driver_options options;
        options.reset_on_abort = wished;
        driver_rig rig(options);
        rig.open();
        rig.in_a_turn([&] { rig.engine.host->abort(close_reason::requested); });
        EXPECT_EQ(rig.lines.reset_wanted, wished);
        EXPECT_EQ(rig.lines.watcher, nullptr) << "closed";
    }
}

TEST(tx12, an_abort_inside_pull_reports_what_was_pulled) {
    driver_rig rig;
    rig.open();
    rig.engine.on_pull = [&] { rig.engine.host->abort(close_reason::requested); };
    queue_in_a_turn(rig, {make_frame(10), make_frame(11)});
    EXPECT_EQ(rig.lines.writes, 0u);
    EXPECT_EQ(rig.engine.reports.size(), 2u);
    EXPECT_EQ(rig.engine.reported_good(), 0u);
    EXPECT_EQ(rig.engine.closes.size(), 1u);
    expect_promises_kept(rig);
}

// The same conversation, run again with the network failing at each of its steps.
TEST(failures, at_every_step_end_the_connection_once_and_account_for_every_message) {
    pinned_pool pool({.name = "test_fail", .slot_size = 32'768, .slot_count = 1});
    std::size_t steps = 0;
    for (std::size_t step = 0; step == 0 || step <= steps; ++step) {
        driver_rig rig({.large_frames = &pool, .high_water_bytes = 500, .low_water_bytes = 100});
        rig.engine.echoes = true;
        rig.engine.turn_limit = 2;
        rig.lines.read_limit = 700;
        rig.lines.write_limits = {100, 0, 3, 400, 0, 0, 20'000, 0, 1};
        // The first run counts the steps.
        rig.lines.fail_at_step = step == 0 ? testing::script::no_limit : step - 1;
        rig.open();
        for (const std::size_t size : {30U, 900U, 20'000U, 4U, 5U, 6U, 7U, 8100U}) {
            rig.receive(make_frame(size));
        }
        rig.settle_all();
        rig.lines.peer_ended = true;
        rig.settle_all();
        if (step == 0) {
            steps = rig.lines.steps;
            EXPECT_EQ(rig.engine.frames.size(), 8u);
            EXPECT_EQ(rig.engine.reported_good(), 8u);
        }
        EXPECT_EQ(rig.engine.closes.size(), 1u) << "failing at step " << step;
        EXPECT_EQ(rig.engine.reports.size() + rig.engine.queued(), rig.engine.frames.size());
        EXPECT_EQ(pool.free_count(), 1u);
        EXPECT_EQ(rig.finished, 1u);
        expect_promises_kept(rig);
    }
    EXPECT_GT(steps, 40u);
}

TEST(failures, a_driver_may_be_shut_at_every_step) {
    for (std::size_t step = 0; step < 60; ++step) {
        driver_rig rig({.high_water_bytes = 500, .low_water_bytes = 100});
        rig.engine.echoes = true;
        rig.lines.read_limit = 100;
        rig.lines.write_limits = {100, 0, 3, 40, 0, 0, 200, 0, 1};
        rig.open();
        for (const std::size_t size : {30U, 900U, 4U, 5U, 6U, 7U, 810U}) {
            rig.receive(make_frame(size));
        }
        for (std::size_t i = 0; i < step; ++i) {
            rig.tell_once();
            if (!rig.lines.write_limits.empty() && rig.lines.write_limits.front() == 0) {
                rig.lines.write_limits.pop_front();
            }
        }
        {
            const turn_scope turn(rig.home);
            rig.driver->shut(close_reason::shutting_down, rig.home.now());
        }
        EXPECT_EQ(rig.engine.closes.size(), 1u);
        EXPECT_EQ(rig.finished, 1u);
        expect_promises_kept(rig);
    }
}

}  // namespace
}  // namespace tagferry::transport
