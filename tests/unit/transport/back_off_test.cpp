#include "transport/time/back_off.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;

TEST(back_off, doubles_from_the_first_to_the_ceiling) {
    back_off delays({.first = 500ms, .ceiling = 5s, .jitter = 0}, 1);
    for (const duration expected : {500ms, 1000ms, 2000ms, 4000ms, 5000ms, 5000ms}) {
        EXPECT_EQ(delays.next(), expected);
    }
    EXPECT_EQ(delays.failures(), 6u);
    delays.reset();
    EXPECT_EQ(delays.failures(), 0u);
    EXPECT_EQ(delays.next(), 500ms);
}

TEST(back_off, chance_shortens_within_its_range_and_spreads) {
    std::set<duration> seen;
    duration least = 10s;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        back_off delays({}, seed);
        for (const duration base : {500ms, 1000ms, 2000ms, 4000ms, 5000ms, 5000ms}) {
            const duration delay = delays.next();
            EXPECT_LE(delay, base);
            EXPECT_GE(delay, base * 8 / 10 - 1ns);
            seen.insert(delay);
            least = std::min(least, delay);
        }
    }
    EXPECT_GT(seen.size(), 5900u);
    EXPECT_LT(least, 401ms);
}

TEST(back_off, one_seed_is_one_sequence) {
    back_off one({}, 42);
    back_off same({}, 42);
    back_off other({}, 43);
    bool differs = false;
    for (int i = 0; i < 10; ++i) {
        const duration delay = one.next();
        EXPECT_EQ(delay, same.next());
        differs = differs || delay != other.next();
    }
    EXPECT_TRUE(differs);
}

TEST(back_off, the_largest_ceiling_does_not_overflow) {
    back_off delays({.first = 1s, .ceiling = duration::max(), .jitter = 0}, 1);
    duration last{0};
    for (int i = 0; i < 50; ++i) {
        const duration delay = delays.next();
        EXPECT_GE(delay, last);
        last = delay;
    }
}

}  // namespace
}  // namespace tagferry::transport
