#include "transport/bytes/reader.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <vector>

namespace tagferry::transport {
namespace {

std::vector<std::byte> counting_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t index = 0; index < size; ++index) {
        bytes[index] = static_cast<std::byte>(index + 1);
    }
    return bytes;
}

TEST(reader, reads_fields_in_its_order) {
    const auto input = counting_bytes(27);
    big_endian_reader big(input);
    EXPECT_EQ(big.u8(), 0x01);
    EXPECT_EQ(big.u16(), 0x0203);
    EXPECT_EQ(big.u32(), 0x04050607U);
    EXPECT_EQ(big.u64(), 0x08090A0B0C0D0E0FU);
    EXPECT_EQ(big.i32(), 0x10111213);
    EXPECT_EQ(big.i64(), 0x1415161718191A1B);
    EXPECT_TRUE(big.finished());
    little_endian_reader little(input);
    EXPECT_EQ(little.u8(), 0x01);
    EXPECT_EQ(little.u16(), 0x0302);
    EXPECT_EQ(little.u32(), 0x07060504U);
    EXPECT_EQ(little.position(), 7u);
    EXPECT_EQ(little.remaining(), 20u);
    EXPECT_TRUE(little.ok());
    EXPECT_FALSE(little.finished());
}

struct named_read {
    const char* name;
    std::size_t size;
    std::function<bool(little_endian_reader&)> is_zero;  // reads and says whether it gave nothing
};

const std::vector<named_read>& all_reads() {
    static const std::vector<named_read> reads = {
        {"u8", 1, [](auto& in) { return in.u8() == 0; }},
        {"u16", 2, [](auto& in) { return in.u16() == 0; }},
        {"u32", 4, [](auto& in) { return in.u32() == 0; }},
        {"u64", 8, [](auto& in) { return in.u64() == 0; }},
        {"i32", 4, [](auto& in) { return in.i32() == 0; }},
        {"i64", 8, [](auto& in) { return in.i64() == 0; }},
        {"float", 4, [](auto& in) { return in.template read<float>() == 0; }},
        {"double", 8, [](auto& in) { return in.template read<double>() == 0; }},
        {"bytes", 3, [](auto& in) { return in.bytes(3).empty(); }},
    };
    return reads;
}

// Every kind of read over every shorter and longer input: fails exactly when a byte is missing,
// consumes nothing then, and stays failed.
TEST(reader, fails_exactly_when_bytes_are_missing_and_stays_failed) {
    for (const named_read& read : all_reads()) {
        for (std::size_t size = 0; size <= 9; ++size) {
            const auto input = counting_bytes(size);
            little_endian_reader in(input);
            EXPECT_EQ(read.is_zero(in), size < read.size) << read.name << " of " << size;
            EXPECT_EQ(in.ok(), size >= read.size) << read.name << " of " << size;
            if (in.ok()) {
                EXPECT_EQ(in.position(), read.size);
                EXPECT_EQ(in.remaining(), size - read.size);
                continue;
            }
            EXPECT_EQ(in.remaining(), 0u);
            for (const named_read& later : all_reads()) {
                EXPECT_TRUE(later.is_zero(in)) << read.name << " then " << later.name;
            }
            EXPECT_FALSE(in.ok());
            EXPECT_FALSE(in.finished());
        }
    }
}

TEST(reader, gives_views_into_the_input) {
    const auto input = counting_bytes(8);
    little_endian_reader in(input);
    in.skip(2);
    const auto view = in.bytes(5);
    EXPECT_EQ(view.data(), input.data() + 2);
    EXPECT_EQ(view.size(), 5u);
    EXPECT_TRUE(in.bytes(0).empty());
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.u8(), 8);
    EXPECT_TRUE(in.bytes(0).empty());
    EXPECT_TRUE(in.finished());
}

TEST(reader, refuses_counts_that_would_wrap_around) {
    const auto input = counting_bytes(8);
    for (const std::size_t count : {std::size_t{9}, std::numeric_limits<std::size_t>::max(),
                                    std::numeric_limits<std::size_t>::max() - 3}) {
        little_endian_reader in(input);
        in.skip(4);
        EXPECT_TRUE(in.bytes(count).empty());
        EXPECT_FALSE(in.ok());
    }
}

TEST(reader, gives_up_the_rest_when_told_to_fail) {
    const auto input = counting_bytes(8);
    big_endian_reader in(input);
    in.fail();
    EXPECT_FALSE(in.ok());
    EXPECT_EQ(in.position(), 8u);
    EXPECT_EQ(in.u8(), 0);
}

TEST(reader, empty_input_is_finished) {
    const big_endian_reader in({});
    EXPECT_TRUE(in.finished());
}

}  // namespace
}  // namespace tagferry::transport
