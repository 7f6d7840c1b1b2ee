#include "transport/bytes/writer.hpp"

#include "transport/bytes/reader.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <vector>

namespace tagferry::transport {
namespace {

constexpr std::byte untouched{0x5A};

std::vector<int> values_of(std::span<const std::byte> bytes) {
    std::vector<int> values;
    for (const std::byte value : bytes) {
        values.push_back(std::to_integer<int>(value));
    }
    return values;
}

TEST(writer, writes_fields_in_its_order) {
    std::array<std::byte, 15> buffer;
    big_endian_writer big(buffer);
    big.u8(1);
    big.u16(0x0203);
    big.u32(0x04050607);
    big.u64(0x08090A0B0C0D0E0F);
    EXPECT_TRUE(big.ok());
    EXPECT_EQ(big.remaining(), 0u);
    EXPECT_EQ(values_of(big.written()),
              (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
    little_endian_writer little(buffer);
    little.u16(0x0201);
    little.i32(0x06050403);
    little.i64(0x0E0D0C0B0A090807);
    EXPECT_EQ(values_of(little.written()),
              (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
}

struct named_write {
    const char* name;
    std::size_t size;
    std::function<void(little_endian_writer&)> write;
};

const std::vector<named_write>& all_writes() {
    static const std::array<std::byte, 3> three{};
    static const std::vector<named_write> writes = {
        {"u8", 1, [](auto& out) { out.u8(1); }},
        {"u16", 2, [](auto& out) { out.u16(1); }},
        {"u32", 4, [](auto& out) { out.u32(1); }},
        {"u64", 8, [](auto& out) { out.u64(1); }},
        {"i32", 4, [](auto& out) { out.i32(1); }},
        {"i64", 8, [](auto& out) { out.i64(1); }},
        {"float", 4, [](auto& out) { out.write(1.0F); }},
        {"double", 8, [](auto& out) { out.write(1.0); }},
        {"bytes", 3, [](auto& out) { out.bytes(three); }},
        {"zeros", 5, [](auto& out) { out.zeros(5); }},
        {"reserve", 6, [](auto& out) { static_cast<void>(out.reserve(6)); }},
    };
    return writes;
}

// Every kind of write into every shorter and longer buffer: fails exactly when there is no room,
// touches nothing then, and stays failed.
TEST(writer, fails_exactly_when_room_is_missing_and_stays_failed) {
    for (const named_write& write : all_writes()) {
        for (std::size_t size = 0; size <= 9; ++size) {
            std::vector<std::byte> memory(size + 16, untouched);
            little_endian_writer out{std::span<std::byte>(memory).first(size)};
            write.write(out);
            EXPECT_EQ(out.ok(), size >= write.size) << write.name << " into " << size;
            EXPECT_EQ(out.position(), out.ok() ? write.size : 0) << write.name;
            if (out.ok()) {
                EXPECT_EQ(out.remaining(), size - write.size);
            } else {
                for (const named_write& later : all_writes()) {
                    later.write(out);
                }
                EXPECT_FALSE(out.ok());
                EXPECT_EQ(out.remaining(), 0u);
                EXPECT_EQ(out.position(), 0u);
            }
            for (std::size_t index = out.position(); index < memory.size(); ++index) {
                ASSERT_EQ(memory[index], untouched) << write.name << " into " << size;
            }
        }
    }
}

TEST(writer, reserves_and_patches_what_is_known_last) {
    std::array<std::byte, 8> buffer;
    buffer.fill(untouched);
    big_endian_writer out(buffer);
    out.u16(0xABCD);
    const std::size_t size_at = out.position();
    const auto reserved = out.reserve(4);
    EXPECT_EQ(reserved.data(), buffer.data() + 2);
    out.u16(0x0102);
    out.patch(size_at, static_cast<std::uint32_t>(out.position()));
    EXPECT_TRUE(out.ok());
    EXPECT_EQ(values_of(out.written()), (std::vector<int>{0xAB, 0xCD, 0, 0, 0, 8, 1, 2}));
}

TEST(writer, patches_only_inside_what_was_written) {
    for (std::size_t at = 0; at <= 9; ++at) {
        std::array<std::byte, 16> buffer{};
        big_endian_writer out(buffer);
        out.zeros(6);
        out.patch(at, std::uint32_t{0x01020304});
        EXPECT_EQ(out.ok(), at <= 2) << at;
        EXPECT_EQ(buffer[6], std::byte{0});
    }
    std::array<std::byte, 16> buffer{};
    big_endian_writer out(buffer);
    out.zeros(6);
    out.patch(std::numeric_limits<std::size_t>::max(), std::uint8_t{1});
    EXPECT_FALSE(out.ok());
}

TEST(writer, truncates_back_but_never_forward) {
    std::array<std::byte, 8> buffer{};
    big_endian_writer out(buffer);
    out.u32(1);
    out.truncate(2);
    EXPECT_EQ(out.position(), 2u);
    EXPECT_EQ(out.remaining(), 6u);
    out.truncate(2);
    EXPECT_TRUE(out.ok());
    out.truncate(3);
    EXPECT_FALSE(out.ok());
    out.truncate(0);
    EXPECT_FALSE(out.ok());
    EXPECT_EQ(out.position(), 2u);
}

TEST(writer, refuses_counts_that_would_wrap_around) {
    std::array<std::byte, 8> buffer{};
    for (const std::size_t count : {std::size_t{5}, std::numeric_limits<std::size_t>::max()}) {
        big_endian_writer zeros(buffer);
        zeros.u32(1);
        zeros.zeros(count);
        EXPECT_FALSE(zeros.ok());
        big_endian_writer reserved(buffer);
        reserved.u32(1);
        EXPECT_TRUE(reserved.reserve(count).empty());
        EXPECT_FALSE(reserved.ok());
    }
}

TEST(writer, nothing_fits_into_nothing_but_nothing) {
    little_endian_writer out({});
    out.bytes({});
    out.zeros(0);
    EXPECT_TRUE(out.ok());
    out.u8(1);
    EXPECT_FALSE(out.ok());
}

TEST(writer, what_is_written_is_read_back) {
    std::array<std::byte, 64> buffer;
    little_endian_writer out(buffer);
    out.u8(0xFE);
    out.write(-1.5F);
    out.write(std::int16_t{-2});
    out.i64(std::numeric_limits<std::int64_t>::min());
    out.write(6.25);
    ASSERT_TRUE(out.ok());
    little_endian_reader in(out.written());
    EXPECT_EQ(in.u8(), 0xFE);
    EXPECT_EQ(in.read<float>(), -1.5F);
    EXPECT_EQ(in.read<std::int16_t>(), -2);
    EXPECT_EQ(in.i64(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(in.read<double>(), 6.25);
    EXPECT_TRUE(in.finished());
}

}  // namespace
}  // namespace tagferry::transport
