#include "transport/memory/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace tagferry::transport {
namespace {

TEST(random, fills_all_and_never_the_same) {
    std::array<std::byte, 1'000> first{};
    std::array<std::byte, 1'000> second{};
    fill_random(first);
    fill_random(second);
    EXPECT_NE(first, second);
    // 1,000 fair bytes hold about four of each value; none of a value forty times.
    for (int value = 0; value < 256; ++value) {
        EXPECT_LT(std::ranges::count(first, static_cast<std::byte>(value)), 40);
    }
    EXPECT_TRUE(std::any_of(first.end() - 16, first.end(),
                            [](std::byte each) { return each != std::byte{0}; }));
    fill_random({});
}

}  // namespace
}  // namespace tagferry::transport
