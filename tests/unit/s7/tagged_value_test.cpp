// Signals that say whose they are and how often they moved.
#include "protocols/s7/simulator/tagged_value.hpp"

#include "tests/unit/s7/asked_plc.hpp"
#include "transport/bytes/endian.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t number = 5;
constexpr std::uint64_t counter = 21;

/// What a tagged signal of a type shows after 21 of its periods, in the PLC's bytes.
bytes shown(std::string_view where, std::string_view type) {
    transport::manual_clock clock;
    auto made = signal(where, type, signal_kind::tagged, 0, 0, 10ms);
    made.number = number;
    simulated_plc plc(with_signals({made}), clock);
    clock.advance(219ms);
    item_code code{};
    const auto from =
        plc.read(byte_variable(area::data_block, 1, made.where.byte,
                               static_cast<std::uint16_t>(plc_size(made.type, made.where.bit))),
                 code);
    return {from.begin(), from.end()};
}

std::uint64_t bits_of(std::span<const std::byte> big_endian) {
    std::uint64_t bits = 0;
    for (const std::byte one : big_endian) {
        bits = bits << 8 | std::to_integer<std::uint64_t>(one);
    }
    return bits;
}

TEST(s7_tagged_value, every_whole_number_type_carries_number_and_counter) {
    for (const std::string_view name : {"BYTE", "SINT", "USINT", "CHAR", "WORD", "INT", "UINT",
                                        "DWORD", "DINT", "UDINT", "LWORD", "LINT", "ULINT"}) {
        data_type type;
        ASSERT_FALSE(parse_data_type(name, type));
        EXPECT_EQ(split_tagged(type.base, bits_of(shown("DB1.DBB0", name))),
                  (tagged_value{number, counter}))
            << name;
    }
}

TEST(s7_tagged_value, real_numbers_hold_them_exactly) {
    const auto real = shown("DB1.DBD0", "REAL");
    const float single = transport::load<float>(real.data(), std::endian::big);
    EXPECT_EQ(single, std::floor(single));
    EXPECT_EQ(split_tagged(base_type::real, static_cast<std::uint64_t>(single)),
              (tagged_value{number, counter}));
    const auto long_real = shown("DB1.DBB0", "LREAL");
    const double wide = transport::load<double>(long_real.data(), std::endian::big);
    EXPECT_EQ(split_tagged(base_type::long_real, static_cast<std::uint64_t>(wide)),
              (tagged_value{number, counter}));
    const tagged_value largest{(1U << 10) - 1, (1U << 14) - 1};
    EXPECT_EQ(split_tagged(base_type::real, static_cast<std::uint64_t>(static_cast<float>(
                                                join_tagged(base_type::real, largest)))),
              largest);
}

TEST(s7_tagged_value, bits_and_texts_do_as_well_as_they_can) {
    EXPECT_EQ(to_hex(shown("DB1.DBX0.3", "BOOL")), "00") << "odd counter, odd number";
    EXPECT_EQ(to_hex(shown("DB1.DBX0.3", "ARRAY[0..2] OF BOOL")), "10");
    EXPECT_EQ(to_hex(shown("DB1.DBB0", "STRING[6]")),
              "0604353a323100"
              "00");
    EXPECT_EQ(split_tagged_text("5:21"), (tagged_value{number, counter}));
    EXPECT_EQ(tagged_text({5, 21}), "5:21");
    EXPECT_FALSE(split_tagged_text("5"));
    EXPECT_FALSE(split_tagged_text("5:"));
    EXPECT_FALSE(split_tagged_text("x:1"));
    EXPECT_EQ(to_hex(shown("DB1.DBB0", "STRING[3]")), "0303353a32") << "as much as there is room";
}

TEST(s7_tagged_value, elements_of_an_array_have_numbers_of_their_own_and_one_counter) {
    const auto all = shown("DB1.DBB0", "ARRAY[0..9] OF DINT");
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(
            split_tagged(base_type::double_integer, bits_of(std::span(all).subspan(4 * i, 4))),
            (tagged_value{number + i, counter}));
    }
    EXPECT_EQ(to_hex(shown("DB1.DBB0", "ARRAY[0..1] OF STRING[4]")), "0404353a32310404363a3231");
}

TEST(s7_tagged_value, both_wrap_at_the_bits_of_their_type) {
    EXPECT_EQ(split_tagged(base_type::byte, join_tagged(base_type::byte, {9, 33})),
              (tagged_value{1, 1}));
}

}  // namespace
}  // namespace tagferry::s7::test
