#include "transport/memory/rings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

struct record {
    std::uint64_t producer = 0;
    std::uint64_t number = 0;
    std::array<std::uint64_t, 4> echo{};  // all equal to `number`: a torn record shows
};

record make_record(std::uint64_t producer, std::uint64_t number) {
    return {producer, number, {number, number, number, number}};
}

bool whole(const record& received) {
    for (const std::uint64_t value : received.echo) {
        if (value != received.number) {
            return false;
        }
    }
    return true;
}

TEST(ring_capacity, is_the_next_power_of_two) {
    EXPECT_EQ(ring_capacity(1), 2u);
    EXPECT_EQ(ring_capacity(2), 2u);
    EXPECT_EQ(ring_capacity(3), 4u);
    EXPECT_EQ(ring_capacity(1000), 1024u);
    EXPECT_THROW(ring_capacity(0), std::invalid_argument);
    EXPECT_THROW(ring_capacity((std::size_t{1} << 31U) + 1), std::invalid_argument);
}

template <typename Ring>
class any_ring : public testing::Test {};
using ring_types = testing::Types<spsc_ring<int>, mpsc_ring<int>>;
TYPED_TEST_SUITE(any_ring, ring_types);

TYPED_TEST(any_ring, keeps_order_and_refuses_when_full_or_empty) {
    TypeParam ring(4);
    int value = -1;
    EXPECT_FALSE(ring.try_pop(value));
    EXPECT_EQ(value, -1);
    // Several laps, at every offset of the ring.
    for (int lap = 0; lap < 9; ++lap) {
        EXPECT_TRUE(ring.empty());
        for (int number = 0; number < 4; ++number) {
            EXPECT_TRUE(ring.try_push(lap * 10 + number));
        }
        EXPECT_FALSE(ring.try_push(99));
        for (int number = 0; number < 4; ++number) {
            EXPECT_FALSE(ring.empty());
            ASSERT_TRUE(ring.try_pop(value));
            EXPECT_EQ(value, lap * 10 + number);
        }
        EXPECT_FALSE(ring.try_pop(value));
        EXPECT_TRUE(ring.try_push(7));
        EXPECT_TRUE(ring.try_pop(value));
    }
}

TEST(spsc_ring, size_follows_push_and_pop) {
    spsc_ring<int> ring(4);
    int value = 0;
    EXPECT_EQ(ring.size(), 0u);
    ring.try_push(1);
    ring.try_push(2);
    EXPECT_EQ(ring.size(), 2u);
    ring.try_pop(value);
    EXPECT_EQ(ring.size(), 1u);
}

TEST(spsc_ring, hands_every_record_over_between_threads) {
    constexpr std::uint64_t count = 200000;
    spsc_ring<record> ring(64);
    std::thread producer([&] {
        for (std::uint64_t number = 0; number < count;) {
            if (ring.try_push(make_record(0, number))) {
                ++number;
            } else {
                std::this_thread::yield();
            }
        }
    });
    record received;
    for (std::uint64_t number = 0; number < count;) {
        if (!ring.try_pop(received)) {
            std::this_thread::yield();
            continue;
        }
        ASSERT_EQ(received.number, number);
        ASSERT_TRUE(whole(received));
        ++number;
    }
    producer.join();
    EXPECT_FALSE(ring.try_pop(received));
}

TEST(mpsc_ring, hands_every_record_over_and_keeps_each_producers_order) {
    constexpr std::uint64_t producers = 4;
    constexpr std::uint64_t count = 50000;
    mpsc_ring<record> ring(64);
    std::vector<std::thread> running;
    for (std::uint64_t producer = 0; producer < producers; ++producer) {
        running.emplace_back([&, producer] {
            for (std::uint64_t number = 0; number < count;) {
                if (ring.try_push(make_record(producer, number))) {
                    ++number;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    std::array<std::uint64_t, producers> next{};
    record received;
    for (std::uint64_t taken = 0; taken < producers * count;) {
        if (!ring.try_pop(received)) {
            std::this_thread::yield();
            continue;
        }
        ASSERT_EQ(received.number, next[received.producer]);
        ASSERT_TRUE(whole(received));
        ++next[received.producer];
        ++taken;
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace tagferry::transport
