#include "transport/bytes/receive_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace tagferry::transport {
namespace {

// A stream in which byte number n is a function of n, so that a lost, doubled or moved byte shows.
std::byte stream_byte(std::size_t position) noexcept {
    return static_cast<std::byte>((position * 131U + position / 251U) & 0xFFU);
}

class receive_buffer_test : public testing::Test {
  protected:
    // Receives up to `wanted` bytes of the stream; returns how many the buffer took.
    std::size_t receive(receive_buffer& buffer, std::size_t wanted) {
        const auto room = buffer.writable();
        const std::size_t count = std::min(wanted, room.size());
        for (std::size_t index = 0; index < count; ++index) {
            room[index] = stream_byte(received_ + index);
        }
        buffer.filled(count);
        received_ += count;
        return count;
    }

    void consume(receive_buffer& buffer, std::size_t count) {
        buffer.consume(count);
        consumed_ += count;
    }

    void expect_stream(receive_buffer& buffer) {
        const auto view = buffer.unconsumed();
        ASSERT_EQ(view.size(), received_ - consumed_);
        for (std::size_t index = 0; index < view.size(); ++index) {
            ASSERT_EQ(view[index], stream_byte(consumed_ + index)) << index;
        }
    }

    std::array<std::byte, 64> staging_{};
    pinned_pool pool_{{.name = "large_frames", .slot_size = 256, .slot_count = 2}};
    receive_buffer buffer_{staging_, &pool_};
    std::size_t received_ = 0;
    std::size_t consumed_ = 0;
};

TEST_F(receive_buffer_test, takes_whatever_is_there_up_to_staging) {
    EXPECT_TRUE(buffer_.empty());
    EXPECT_EQ(buffer_.writable().size(), 64u);
    EXPECT_EQ(receive(buffer_, 40), 40u);
    EXPECT_EQ(receive(buffer_, 40), 24u);
    EXPECT_TRUE(buffer_.writable().empty());
    expect_stream(buffer_);
}

TEST_F(receive_buffer_test, starts_at_the_front_again_when_all_is_consumed) {
    receive(buffer_, 30);
    consume(buffer_, 30);
    EXPECT_TRUE(buffer_.empty());
    EXPECT_EQ(buffer_.writable().size(), 64u);
    EXPECT_EQ(buffer_.moved_bytes(), 0u);
}

TEST_F(receive_buffer_test, RX6_does_not_move_while_a_header_fits_behind) {
    receive(buffer_, 48);
    consume(buffer_, 40);
    EXPECT_EQ(buffer_.writable().size(), 16u);
    EXPECT_EQ(buffer_.moved_bytes(), 0u);
    receive(buffer_, 1);
    EXPECT_EQ(buffer_.writable().size(), 64u - 9u);
    EXPECT_EQ(buffer_.moved_bytes(), 9u);
    expect_stream(buffer_);
}

TEST_F(receive_buffer_test, RX6_moves_when_the_announced_frame_does_not_fit_in_place) {
    receive(buffer_, 34);
    consume(buffer_, 30);
    EXPECT_EQ(buffer_.expect_frame(34), frame_room::ready);
    EXPECT_EQ(buffer_.writable().size(), 30u);
    EXPECT_EQ(buffer_.moved_bytes(), 0u);
    EXPECT_EQ(buffer_.expect_frame(35), frame_room::ready);
    EXPECT_EQ(buffer_.writable().size(), 60u);
    EXPECT_EQ(buffer_.moved_bytes(), 4u);
    expect_stream(buffer_);
}

TEST_F(receive_buffer_test, RX6_moves_no_more_than_it_receives) {
    std::mt19937 random(7);
    std::size_t frame_size = 1 + random() % 64;
    for (int round = 0; round < 5000; ++round) {
        receive(buffer_, 1 + random() % 64);
        while (buffer_.unconsumed().size() >= frame_size) {
            consume(buffer_, frame_size);
            frame_size = 1 + random() % 64;
        }
        ASSERT_EQ(buffer_.expect_frame(buffer_.empty() ? 0 : frame_size), frame_room::ready);
        ASSERT_FALSE(buffer_.writable().empty());
        expect_stream(buffer_);
    }
    EXPECT_LE(buffer_.moved_bytes(), received_);
}

TEST_F(receive_buffer_test, RX4_large_frame_gets_a_buffer_and_its_start_is_copied_once) {
    receive(buffer_, 20);
    EXPECT_EQ(buffer_.expect_frame(200), frame_room::ready);
    EXPECT_TRUE(buffer_.in_large_frame());
    EXPECT_EQ(buffer_.moved_bytes(), 20u);
    EXPECT_EQ(pool_.free_count(), 1u);
    EXPECT_EQ(buffer_.writable().size(), 180u);
    receive(buffer_, 100);
    EXPECT_EQ(buffer_.expect_frame(200), frame_room::ready);
    EXPECT_EQ(buffer_.writable().size(), 80u);
    EXPECT_EQ(buffer_.moved_bytes(), 20u);
    expect_stream(buffer_);
}

TEST_F(receive_buffer_test, RX4_large_frame_never_takes_a_byte_of_the_next_one) {
    receive(buffer_, 20);
    ASSERT_EQ(buffer_.expect_frame(200), frame_room::ready);
    EXPECT_EQ(receive(buffer_, 1000), 180u);
    EXPECT_TRUE(buffer_.writable().empty());
    expect_stream(buffer_);
    consume(buffer_, 200);
    EXPECT_FALSE(buffer_.in_large_frame());
    EXPECT_EQ(pool_.free_count(), 2u);
    EXPECT_EQ(buffer_.writable().data(), staging_.data());
    EXPECT_EQ(buffer_.writable().size(), 64u);
    receive(buffer_, 10);
    expect_stream(buffer_);
}

TEST_F(receive_buffer_test, RX4_large_frame_may_be_consumed_in_parts) {
    receive(buffer_, 20);
    ASSERT_EQ(buffer_.expect_frame(200), frame_room::ready);
    receive(buffer_, 100);
    consume(buffer_, 50);
    EXPECT_EQ(buffer_.expect_frame(150), frame_room::ready);
    EXPECT_EQ(buffer_.writable().size(), 80u);
    // The engine learns that the frame is larger than it looked: the consumed part makes room.
    EXPECT_EQ(buffer_.expect_frame(240), frame_room::ready);
    EXPECT_EQ(buffer_.writable().size(), 170u);
    expect_stream(buffer_);
    receive(buffer_, 170);
    consume(buffer_, 240);
    EXPECT_FALSE(buffer_.in_large_frame());
}

TEST_F(receive_buffer_test, frame_over_every_buffer_is_too_large) {
    receive(buffer_, 20);
    EXPECT_EQ(buffer_.expect_frame(257), frame_room::too_large);
    EXPECT_FALSE(buffer_.in_large_frame());
    ASSERT_EQ(buffer_.expect_frame(256), frame_room::ready);
    EXPECT_EQ(buffer_.expect_frame(257), frame_room::too_large);
    expect_stream(buffer_);
    receive_buffer without_pool(staging_, nullptr);
    EXPECT_EQ(without_pool.expect_frame(64), frame_room::ready);
    EXPECT_EQ(without_pool.expect_frame(65), frame_room::too_large);
}

TEST_F(receive_buffer_test, empty_pool_is_reported_and_loses_nothing) {
    pooled_buffer first = pool_.rent();
    const pooled_buffer second = pool_.rent();
    receive(buffer_, 20);
    EXPECT_EQ(buffer_.expect_frame(100), frame_room::no_buffer);
    EXPECT_EQ(buffer_.expect_frame(100), frame_room::no_buffer);
    expect_stream(buffer_);
    first.reset();
    EXPECT_EQ(buffer_.expect_frame(100), frame_room::ready);
    EXPECT_EQ(receive(buffer_, 100), 80u);
    expect_stream(buffer_);
}

TEST_F(receive_buffer_test, unknown_frame_size_changes_nothing) {
    receive(buffer_, 20);
    ASSERT_EQ(buffer_.expect_frame(100), frame_room::ready);
    EXPECT_EQ(buffer_.expect_frame(0), frame_room::ready);
    EXPECT_EQ(buffer_.writable().size(), 80u);
}

#ifdef TAGFERRY_DEBUG_CHECKS
TEST_F(receive_buffer_test, RX5_consumed_bytes_are_overwritten) {
    receive(buffer_, 30);
    const auto view = buffer_.unconsumed();
    buffer_.consume(10);
    EXPECT_TRUE(std::all_of(view.begin(), view.begin() + 10,
                            [](std::byte value) { return value == std::byte{0xDD}; }));
    EXPECT_EQ(view[10], stream_byte(10));
    // Entering a large frame leaves no readable copy behind either.
    ASSERT_EQ(buffer_.expect_frame(100), frame_room::ready);
    EXPECT_EQ(view[10], std::byte{0xDD});
}

TEST_F(receive_buffer_test, RX5_moved_bytes_are_overwritten_where_they_were) {
    receive(buffer_, 64);
    const auto view = buffer_.unconsumed();
    consume(buffer_, 40);
    ASSERT_EQ(buffer_.writable().size(), 40u);
    expect_stream(buffer_);
    EXPECT_TRUE(std::all_of(view.begin() + 24, view.end(),
                            [](std::byte value) { return value == std::byte{0xDD}; }));
}
#endif

TEST_F(receive_buffer_test, RX10_hands_staged_bytes_over) {
    std::array<std::byte, 64> other_staging{};
    receive_buffer other(other_staging, &pool_);
    receive(buffer_, 50);
    consume(buffer_, 13);
    buffer_.hand_over(other);
    EXPECT_TRUE(buffer_.empty());
    EXPECT_EQ(buffer_.writable().size(), 64u);
    expect_stream(other);
    EXPECT_EQ(other.writable().size(), 64u - 37u);
}

TEST_F(receive_buffer_test, RX10_hands_a_large_frame_over_with_its_buffer) {
    std::array<std::byte, 64> other_staging{};
    receive_buffer other(other_staging, &pool_);
    receive(buffer_, 50);
    ASSERT_EQ(buffer_.expect_frame(200), frame_room::ready);
    receive(buffer_, 60);
    const std::byte* const where = buffer_.unconsumed().data();
    buffer_.hand_over(other);
    EXPECT_FALSE(buffer_.in_large_frame());
    EXPECT_EQ(buffer_.writable().size(), 64u);
    EXPECT_EQ(other.unconsumed().data(), where);
    EXPECT_EQ(other.writable().size(), 90u);
    expect_stream(other);
    EXPECT_EQ(pool_.free_count(), 1u);
}

TEST_F(receive_buffer_test, clear_drops_everything_and_returns_the_large_buffer) {
    receive(buffer_, 50);
    ASSERT_EQ(buffer_.expect_frame(200), frame_room::ready);
    buffer_.clear();
    EXPECT_TRUE(buffer_.empty());
    EXPECT_EQ(pool_.free_count(), 2u);
    // A frame size announced before is forgotten as well.
    receive(buffer_, 10);
    ASSERT_EQ(buffer_.expect_frame(60), frame_room::ready);
    buffer_.clear();
    received_ = consumed_ = 0;
    receive(buffer_, 40);
    consume(buffer_, 20);
    EXPECT_EQ(buffer_.writable().size(), 24u);
    EXPECT_EQ(buffer_.moved_bytes(), 50u);
}

TEST_F(receive_buffer_test, death_on_our_own_miscounts) {
    receive(buffer_, 10);
    EXPECT_DEATH(buffer_.consume(11), "more bytes consumed than were received");
    EXPECT_DEATH(buffer_.filled(55), "more bytes filled than were writable");
}

}  // namespace
}  // namespace tagferry::transport
