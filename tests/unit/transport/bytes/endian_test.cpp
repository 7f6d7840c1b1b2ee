#include "transport/bytes/endian.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace tagferry::transport {
namespace {

template <typename T>
class wire_scalars : public testing::Test {};
using scalar_types =
    testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                   std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(wire_scalars, scalar_types);

template <typename T>
std::array<T, 7> samples() {
    using limits = std::numeric_limits<T>;
    return {T{0},
            T{1},
            limits::lowest(),
            limits::max(),
            limits::min(),
            T{0x12} + T{3},
            static_cast<T>(limits::max() / T{3})};
}

TYPED_TEST(wire_scalars, come_back_at_every_alignment_in_both_orders) {
    std::array<std::byte, 24> memory{};
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        for (std::size_t offset = 0; offset < 9; ++offset) {
            for (const TypeParam value : samples<TypeParam>()) {
                memory.fill(std::byte{0x5A});
                store(memory.data() + offset, value, order);
                EXPECT_EQ(load<TypeParam>(memory.data() + offset, order), value);
                for (std::size_t index = 0; index < memory.size(); ++index) {
                    if (index < offset || index >= offset + sizeof(TypeParam)) {
                        ASSERT_EQ(memory[index], std::byte{0x5A}) << index;
                    }
                }
            }
        }
    }
}

TYPED_TEST(wire_scalars, one_order_is_the_other_reversed) {
    for (const TypeParam value : samples<TypeParam>()) {
        std::array<std::byte, sizeof(TypeParam)> big;
        std::array<std::byte, sizeof(TypeParam)> little;
        store(big.data(), value, std::endian::big);
        store(little.data(), value, std::endian::little);
        for (std::size_t index = 0; index < sizeof(TypeParam); ++index) {
            EXPECT_EQ(big[index], little[sizeof(TypeParam) - 1 - index]);
        }
    }
}

template <typename T, std::size_t Size>
void expect_bytes(T value, std::endian order, const std::array<int, Size>& expected) {
    static_assert(sizeof(T) == Size);
    std::array<std::byte, Size> stored;
    store(stored.data(), value, order);
    for (std::size_t index = 0; index < Size; ++index) {
        EXPECT_EQ(std::to_integer<int>(stored[index]), expected[index]) << index;
    }
}

TEST(endian, bytes_are_where_the_order_says) {
    expect_bytes(std::uint16_t{0x0102}, std::endian::big, std::array{1, 2});
    expect_bytes(std::uint16_t{0x0102}, std::endian::little, std::array{2, 1});
    expect_bytes(std::uint32_t{0x01020304}, std::endian::big, std::array{1, 2, 3, 4});
    expect_bytes(std::int32_t{-2}, std::endian::little, std::array{0xFE, 0xFF, 0xFF, 0xFF});
    expect_bytes(std::uint64_t{0x0102030405060708}, std::endian::big,
                 std::array{1, 2, 3, 4, 5, 6, 7, 8});
    // IEEE 754: 1.0 is 3F800000 and 3FF0000000000000.
    expect_bytes(1.0F, std::endian::big, std::array{0x3F, 0x80, 0, 0});
    expect_bytes(1.0, std::endian::little, std::array{0, 0, 0, 0, 0, 0, 0xF0, 0x3F});
}

// A NaN's payload belongs to the peer who sent it.
TEST(endian, keeps_every_bit_of_a_nan) {
    const auto sent = std::bit_cast<double>(std::uint64_t{0x7FF0000000ABCDEF});
    std::array<std::byte, 8> memory;
    store(memory.data(), sent, std::endian::big);
    const auto received = load<double>(memory.data(), std::endian::big);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(received), 0x7FF0000000ABCDEFU);
}

TEST(endian, reverse_is_its_own_inverse) {
    for (std::uint32_t value = 0; value <= 0xFFFF; ++value) {
        const auto narrow = static_cast<std::uint16_t>(value);
        ASSERT_EQ(reverse_bytes(reverse_bytes(narrow)), narrow);
        ASSERT_EQ(reverse_bytes(narrow), static_cast<std::uint16_t>((value << 8U) | (value >> 8U)));
    }
    EXPECT_EQ(reverse_bytes(std::uint8_t{0xAB}), 0xAB);
    EXPECT_EQ(reverse_bytes(std::uint32_t{0x01020304}), 0x04030201U);
}

}  // namespace
}  // namespace tagferry::transport
