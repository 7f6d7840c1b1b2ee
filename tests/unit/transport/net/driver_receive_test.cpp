// The receive requirements that are the driver's, each under its name. RX3 and RX9 (types, limits)
// belong to the protocols.
#include "tests/support/driver_rig.hpp"

#include <gtest/gtest.h>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;
using testing::byte_string;
using testing::driver_rig;
using testing::make_frame;

byte_string operator+(byte_string left, const byte_string& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

void expect_promises_kept(const driver_rig& rig) {
    EXPECT_EQ(rig.engine.violations, std::vector<std::string>{});
}

TEST(rx1, one_receive_takes_whatever_is_there_and_every_frame_in_it_is_handled) {
    driver_rig rig;
    rig.open();
    byte_string several;
    for (unsigned i = 0; i < 20; ++i) {
        several = several + make_frame(100, i);
    }
    rig.receive(several);
    rig.settle();
    EXPECT_EQ(rig.lines.reads, 1u);
    EXPECT_EQ(rig.lines.read_sizes[0], receive_buffer::staging_size);
    EXPECT_EQ(rig.engine.receives, 1u);
    ASSERT_EQ(rig.engine.frames.size(), 20u);
    for (unsigned i = 0; i < 20; ++i) {
        EXPECT_EQ(rig.engine.frames[i], make_frame(100, i));
    }
    expect_promises_kept(rig);
}

TEST(rx1, surplus_bytes_stay_for_the_next_receive) {
    driver_rig rig;
    rig.open();
    const auto first = make_frame(3000, 1);
    const auto second = make_frame(3000, 2);
    const auto third = make_frame(3000, 3);
    rig.receive(first + second + third);
    rig.settle();
    EXPECT_EQ(rig.lines.reads, 2u);
    EXPECT_EQ(rig.engine.frames, (std::vector{first, second, third}));
    expect_promises_kept(rig);
}

TEST(rx2, a_frame_may_be_split_at_every_byte) {
    const auto both = make_frame(23, 1) + make_frame(9, 2);
    for (std::size_t split = 1; split < both.size(); ++split) {
        driver_rig rig;
        rig.open();
        rig.receive({both.begin(), both.begin() + static_cast<std::ptrdiff_t>(split)});
        rig.settle();
        rig.receive({both.begin() + static_cast<std::ptrdiff_t>(split), both.end()});
        rig.settle();
        EXPECT_EQ(rig.engine.frames, (std::vector{make_frame(23, 1), make_frame(9, 2)}))
            << "split at " << split;
        expect_promises_kept(rig);
    }
}

TEST(rx2, a_stream_may_come_byte_by_byte) {
    driver_rig rig;
    rig.open();
    rig.lines.read_limit = 1;
    byte_string stream;
    for (unsigned i = 0; i < 10; ++i) {
        stream = stream + make_frame(4 + i * 5, i);
    }
    rig.receive(stream);
    rig.settle();
    ASSERT_EQ(rig.engine.frames.size(), 10u);
    for (unsigned i = 0; i < 10; ++i) {
        EXPECT_EQ(rig.engine.frames[i], make_frame(4 + i * 5, i));
    }
    EXPECT_EQ(rig.lines.reads, stream.size());
    expect_promises_kept(rig);
}

TEST(rx4, a_large_frame_is_received_into_a_pooled_buffer_and_never_past_its_end) {
    pinned_pool pool({.name = "test_large", .slot_size = 65'536, .slot_count = 2});
    driver_rig rig({.large_frames = &pool});
    rig.open();
    const auto small = make_frame(50, 1);
    const auto large = make_frame(40'000, 2);
    const auto next = make_frame(60, 3);
    rig.receive(small + large + next);
    rig.settle();
    EXPECT_EQ(rig.engine.frames, (std::vector{small, large, next}));
    // The first receive brought the frame's start, the second exactly the rest of it.
    ASSERT_EQ(rig.lines.reads, 3u);
    EXPECT_EQ(rig.lines.read_sizes[1], 40'000 - (receive_buffer::staging_size - 50));
    EXPECT_EQ(pool.free_count(), 2u);
    expect_promises_kept(rig);
}

TEST(rx4, a_frame_over_every_buffer_ends_the_connection) {
    pinned_pool pool({.name = "test_large", .slot_size = 65'536, .slot_count = 1});
    driver_rig rig({.large_frames = &pool});
    rig.open();
    rig.receive(make_frame(65'537));
    rig.settle();
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::protocol_error);
    EXPECT_EQ(rig.lines.reads, 1u);
    EXPECT_EQ(pool.free_count(), 1u);
}

TEST(rx4, an_empty_pool_stops_reading_until_a_buffer_returns) {
    pinned_pool pool({.name = "test_large", .slot_size = 65'536, .slot_count = 1});
    driver_rig holder({.large_frames = &pool});
    driver_rig waiter({.large_frames = &pool});
    holder.open();
    waiter.open();
    const auto frame = make_frame(20'000);
    holder.receive({frame.begin(), frame.begin() + 10'000});
    holder.settle();
    waiter.receive(frame + make_frame(10));
    waiter.settle();
    const std::size_t reads = waiter.lines.reads;
    EXPECT_EQ(waiter.engine.frames.size(), 0u);
    EXPECT_EQ(waiter.counters.large_frame_waits.value(), 1u);
    EXPECT_FALSE(waiter.lines.interest.readable);
    waiter.pass(1h);  // it is not the peer that is late
    EXPECT_EQ(waiter.finished, 0u);
    EXPECT_EQ(waiter.lines.reads, reads);

    holder.receive({frame.begin() + 10'000, frame.end()});
    holder.settle();
    EXPECT_EQ(holder.engine.frames, std::vector<byte_string>{frame});
    waiter.settle();
    EXPECT_EQ(waiter.engine.frames, (std::vector{frame, make_frame(10)}));
    EXPECT_EQ(pool.free_count(), 1u);
    expect_promises_kept(waiter);
}

TEST(rx4, one_that_waits_for_a_buffer_may_be_closed) {
    pinned_pool pool({.name = "test_large", .slot_size = 65'536, .slot_count = 1});
    pooled_buffer taken = pool.rent();
    {
        driver_rig waiter({.large_frames = &pool});
        waiter.open();
        waiter.receive(make_frame(20'000));
        waiter.settle();
        waiter.in_a_turn([&] { waiter.engine.host->abort(close_reason::requested); });
        EXPECT_EQ(waiter.finished, 1u);
    }
    taken.reset();
    EXPECT_EQ(pool.free_count(), 1u);
}

#ifdef TAGFERRY_DEBUG_CHECKS
TEST(rx5, consumed_bytes_are_overwritten_after_each_receive) {
    class keeper final : public engine {
      public:
        void opened(engine_host&, time_point) override {}
        receive_result receive(std::span<std::byte> bytes, time_point) override {
            kept = bytes;
            return {bytes.size(), false};
        }
        input_wish wants_input() const noexcept override { return {}; }
        void pull(send_batch&, time_point) override {}
        void written(const write_report&) override {}
        time_point deadline() const noexcept override { return time_point::max(); }
        void expire(time_point) override {}
        void resume(completion_token, std::uint32_t, time_point) override {}
        void closed(const close_info&, time_point) override {}
        std::span<std::byte> kept;
    } engine;
    input_feed feed(nullptr);
    const auto frame = make_frame(64);
    std::copy(frame.begin(), frame.end(), feed.buffer().writable().begin());
    feed.buffer().filled(frame.size());
    EXPECT_EQ(feed.show(engine, {}), input_state::hungry);
    ASSERT_EQ(engine.kept.size(), 64u);
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(engine.kept[i], std::byte{0xDD});
    }
}
#endif

TEST(rx6, the_cost_of_moving_is_bounded_by_what_is_received) {
    driver_rig rig;
    rig.open();
    byte_string stream;
    std::size_t count = 0;
    while (stream.size() < 200'000) {
        stream = stream + make_frame(1 + 4 + (count * 37) % 5000, static_cast<unsigned>(count));
        ++count;
    }
    rig.receive(stream);
    rig.settle();
    EXPECT_EQ(rig.engine.frames.size(), count);
    // A receive is never so short that staging is filled drop by drop.
    EXPECT_LE(rig.lines.reads, 2 * stream.size() / receive_buffer::staging_size + 8);
    expect_promises_kept(rig);
}

TEST(rx7, end_of_stream_on_a_frame_border_is_a_clean_close) {
    driver_rig rig;
    rig.open();
    rig.engine.echoes = true;
    rig.receive(make_frame(30));
    rig.lines.peer_ended = true;
    rig.settle();
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::peer_closed);
    EXPECT_FALSE(rig.engine.closes[0].error);
    // What was asked before the end is answered.
    EXPECT_EQ(rig.lines.outbound, make_frame(30));
    expect_promises_kept(rig);
}

TEST(rx7, end_of_stream_inside_a_frame_is_told_apart) {
    const auto frame = make_frame(30);
    for (std::size_t there = 1; there < frame.size(); ++there) {
        driver_rig rig;
        rig.open();
        rig.receive({frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(there)});
        rig.lines.peer_ended = true;
        rig.settle();
        ASSERT_EQ(rig.engine.closes.size(), 1u);
        EXPECT_EQ(rig.engine.closes[0].reason, close_reason::peer_closed_mid_frame);
        const auto index = static_cast<std::size_t>(close_reason::peer_closed_mid_frame);
        EXPECT_EQ(rig.counters.closed[index].value(), 1u);
    }
}

TEST(rx8, a_peer_that_drips_a_frame_is_closed_at_its_deadline) {
    driver_rig rig({.frame_timeout = 10s});
    rig.open();
    const auto frame = make_frame(30);
    for (std::size_t i = 0; i < 10; ++i) {
        rig.receive({frame[i]});
        rig.settle();
        EXPECT_EQ(rig.finished, 0u) << "after " << i << " s";
        rig.pass(1s);
    }
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::timed_out);
}

TEST(rx8, the_deadline_begins_anew_with_each_frame_and_an_idle_peer_has_none) {
    driver_rig rig({.frame_timeout = 10s});
    rig.open();
    rig.pass(1h);
    const auto frame = make_frame(30);
    for (int i = 0; i < 5; ++i) {
        rig.receive({frame.begin(), frame.begin() + 20});
        rig.settle();
        rig.pass(6s);
        rig.receive({frame.begin() + 20, frame.end()});
        rig.settle();
    }
    EXPECT_EQ(rig.finished, 0u);
    EXPECT_EQ(rig.engine.frames.size(), 5u);
}

TEST(rx8, the_engines_deadline_is_swept) {
    driver_rig rig;
    rig.open();
    rig.engine.due = rig.clock.now() + 1s;
    rig.engine.on_expire = [&] { rig.engine.queue(make_frame(12)); };
    rig.pass(900ms);
    EXPECT_EQ(rig.engine.expires, 0u);
    rig.pass(200ms);
    EXPECT_EQ(rig.engine.expires, 1u);
    EXPECT_EQ(rig.lines.outbound, make_frame(12));
    expect_promises_kept(rig);
}

TEST(rx11, an_error_ends_the_connection_once) {
    driver_rig rig;
    rig.open();
    rig.lines.fail_at_step = rig.lines.steps;
    rig.tell(EPOLLIN | EPOLLHUP | EPOLLERR);
    rig.tell(EPOLLIN | EPOLLHUP | EPOLLERR);
    rig.settle();
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::transport_error);
    EXPECT_EQ(rig.engine.closes[0].error, std::errc::connection_reset);
    EXPECT_EQ(rig.finished, 1u);
}

TEST(rx11, the_first_reason_stands) {
    driver_rig rig;
    rig.open();
    rig.engine.on_frame = [&] {
        rig.engine.host->abort(close_reason::protocol_error);
        rig.engine.host->abort(close_reason::timed_out);
        rig.engine.host->close_after_flush(close_reason::requested);
    };
    rig.receive(make_frame(10) + make_frame(10));
    rig.settle();
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::protocol_error);
    expect_promises_kept(rig);
}

TEST(rx12, an_idle_connection_is_staging_and_a_small_object) {
    // A driver waits with nothing but itself: no decode buffer, no operation memory.
    EXPECT_LE(sizeof(driver_rig::driver_type), receive_buffer::staging_size + 2560);
    EXPECT_LE(sizeof(tcp_driver), receive_buffer::staging_size + 2560);
}

TEST(rx13, an_engine_at_its_turn_limit_goes_on_in_later_turns_without_more_input) {
    driver_rig rig;
    rig.open();
    rig.engine.turn_limit = 3;
    byte_string several;
    for (unsigned i = 0; i < 10; ++i) {
        several = several + make_frame(20, i);
    }
    rig.receive(several);
    rig.tell(EPOLLIN);
    EXPECT_EQ(rig.engine.frames.size(), 3u);
    rig.settle();
    EXPECT_EQ(rig.engine.frames.size(), 10u);
    EXPECT_EQ(rig.engine.receives, 4u);
    EXPECT_EQ(rig.lines.reads, 1u);
    expect_promises_kept(rig);
}

TEST(rx13, others_get_their_turn_meanwhile) {
    driver_rig rig;
    rig.open();
    rig.engine.turn_limit = 1;
    std::vector<std::size_t> seen;
    struct other final : next_turn_participant {
        explicit other(std::function<void()> what) : act(std::move(what)) {}
        void next_turn(time_point) override { act(); }
        std::function<void()> act;
    };
    other observer([&] {
        seen.push_back(rig.engine.frames.size());
        if (seen.size() < 3) {
            rig.home.at_next_turn(observer);
        }
    });
    rig.receive(make_frame(20) + make_frame(20) + make_frame(20));
    rig.tell(EPOLLIN);
    rig.home.at_next_turn(observer);
    rig.settle();
    EXPECT_EQ(seen, (std::vector<std::size_t>{2, 3, 3}));
}

TEST(input_wish, an_engine_that_wants_none_is_not_read_from_and_not_shown_anything) {
    driver_rig rig;
    rig.open();
    rig.engine.on_frame = [&] { rig.engine.wants = false; };
    rig.receive(make_frame(20, 1) + make_frame(20, 2));
    rig.settle();
    rig.receive(make_frame(20, 3));
    rig.settle();
    EXPECT_EQ(rig.engine.frames.size(), 1u);
    EXPECT_EQ(rig.lines.reads, 1u);
    rig.engine.on_frame = nullptr;
    rig.engine.wants = true;
    rig.in_a_turn([&] { rig.engine.host->output_ready(); });
    // What was staged is shown without a receive, then reading goes on.
    EXPECT_EQ(rig.engine.frames.size(), 2u);
    rig.settle();
    EXPECT_EQ(rig.engine.frames.size(), 3u);
    expect_promises_kept(rig);
}

TEST(input_wish, a_wish_withdrawn_outside_a_receive_holds_for_the_next_one) {
    driver_rig rig;
    rig.open();
    rig.engine.wants = false;
    rig.in_a_turn([&] { rig.engine.host->output_ready(); });
    rig.receive(make_frame(20));
    rig.settle();
    EXPECT_EQ(rig.lines.reads, 0u);
    rig.engine.wants = true;
    rig.in_a_turn([&] { rig.engine.host->output_ready(); });
    rig.settle();
    EXPECT_EQ(rig.engine.frames.size(), 1u);
    expect_promises_kept(rig);
}

TEST(input_wish, a_wish_withdrawn_before_the_next_turn_holds_for_what_was_left_over) {
    driver_rig rig;
    rig.open();
    rig.engine.turn_limit = 1;
    rig.receive(make_frame(20, 1));
    rig.receive(make_frame(20, 2));
    rig.tell(EPOLLIN);
    rig.engine.wants = false;
    rig.in_a_turn([&] { rig.engine.host->output_ready(); });
    rig.settle();
    EXPECT_EQ(rig.engine.frames.size(), 1u);
    rig.engine.wants = true;
    rig.in_a_turn([&] { rig.engine.host->output_ready(); });
    rig.settle();
    EXPECT_EQ(rig.engine.frames.size(), 2u);
    expect_promises_kept(rig);
}

TEST(input_wish, a_full_staging_buffer_that_the_engine_leaves_alone_ends_the_connection) {
    driver_rig rig;
    rig.open();
    rig.engine.announces_size = false;
    rig.receive(make_frame(9000));
    rig.settle();
    ASSERT_EQ(rig.engine.closes.size(), 1u);
    EXPECT_EQ(rig.engine.closes[0].reason, close_reason::protocol_error);
}

}  // namespace
}  // namespace tagferry::transport
