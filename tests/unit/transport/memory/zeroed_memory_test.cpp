#include "transport/memory/zeroed_memory.hpp"

#include "transport/memory/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <system_error>
#include <utility>

namespace tagferry::transport {
namespace {

TEST(zeroed_memory, is_zero_and_writable_to_its_end) {
    zeroed_array<std::uint64_t> numbers(100'000);
    EXPECT_EQ(numbers.size(), 100'000u);
    EXPECT_TRUE(std::ranges::all_of(numbers, [](std::uint64_t each) { return each == 0; }));
    numbers[0] = 1;
    numbers[99'999] = 2;
    EXPECT_EQ(numbers[0] + numbers[99'999], 3u);
}

TEST(zeroed_memory, moves_and_may_be_nothing) {
    zeroed_memory nothing(0);
    EXPECT_EQ(nothing.data(), nullptr);
    zeroed_memory first(10);
    std::byte* const place = first.data();
    zeroed_memory second(std::move(first));
    EXPECT_EQ(second.data(), place);
    EXPECT_EQ(second.size(), 10u);
    nothing = std::move(second);
    EXPECT_EQ(nothing.data(), place);
}

// AddressSanitizer ends the process at such a request instead of refusing it.
#ifndef TAGFERRY_ADDRESS_SANITIZER
TEST(zeroed_memory, says_when_there_is_no_room) {
    EXPECT_ANY_THROW(zeroed_memory(std::size_t{1} << 62U));
}
#endif

}  // namespace
}  // namespace tagferry::transport
