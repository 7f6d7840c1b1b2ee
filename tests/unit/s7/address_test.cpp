// Addresses and types as people write them: what is taken, and where exactly what is not taken
// goes wrong.
#include "protocols/s7/types/address.hpp"

#include "protocols/s7/types/data_type.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tagferry::s7::test {
namespace {

struct good_address {
    std::string_view text;
    address expected;
    std::string_view canonical;
};

TEST(s7_address, every_form_is_taken) {
    const std::vector<good_address> cases = {
        {"DB1.DBX0.3", {area::data_block, 1, 0, 3, true}, "DB1.DBX0.3"},
        {"db12.dbb7", {area::data_block, 12, 7, 0, false}, "DB12.DBB7"},
        {"DB1.DBW4", {area::data_block, 1, 4, 0, false}, "DB1.DBB4"},
        {"%DB65535.DBD65535", {area::data_block, 65535, 65535, 0, false}, "DB65535.DBB65535"},
        {"MW10", {area::memory, 0, 10, 0, false}, "MB10"},
        {"M10.7", {area::memory, 0, 10, 7, true}, "M10.7"},
        {"MX10.7", {area::memory, 0, 10, 7, true}, "M10.7"},
        {"I0.0", {area::input, 0, 0, 0, true}, "I0.0"},
        {"%E3.1", {area::input, 0, 3, 1, true}, "I3.1"},
        {"EW6", {area::input, 0, 6, 0, false}, "IB6"},
        {"QB4", {area::output, 0, 4, 0, false}, "QB4"},
        {"AD8", {area::output, 0, 8, 0, false}, "QB8"},
        {"a1.2", {area::output, 0, 1, 2, true}, "Q1.2"},
    };
    for (const auto& one : cases) {
        address found;
        const auto error = parse_address(one.text, found);
        EXPECT_FALSE(error) << one.text << ": " << error.text;
        EXPECT_EQ(found, one.expected) << one.text;
        EXPECT_EQ(to_string(found), one.canonical);
        address again;
        EXPECT_FALSE(parse_address(to_string(found), again));
        EXPECT_EQ(again, found);
    }
}

struct bad_text {
    std::string_view text;
    std::size_t column;
    std::string_view says;
};

TEST(s7_address, errors_name_the_column_and_what_was_expected) {
    const std::vector<bad_text> cases = {
        {"", 1, "expected DB, I, Q or M"},
        {"%", 2, "expected DB, I, Q or M"},
        {"X1.0", 1, "expected DB, I, Q or M"},
        {"DB", 3, "a DB number"},
        {"DB0.DBW0", 3, "a DB number"},
        {"DB65536.DBW0", 3, "a DB number"},
        {"DB1", 4, "expected '.'"},
        {"DB1,INT4", 4, "expected '.'"},
        {"DB1.", 5, "DBX, DBB, DBW or DBD"},
        {"DB1.DB", 7, "DBX, DBB, DBW or DBD"},
        {"DB1.DW4", 5, "DBX, DBB, DBW or DBD"},
        {"DB1.DBL4", 7, "DBX, DBB, DBW or DBD"},
        {"DB1.DBW", 8, "a byte number"},
        {"DB1.DBW65536", 8, "a byte number"},
        {"DB1.DBW-1", 8, "a byte number"},
        {"DB1.DBX0", 9, "'.' and a bit number"},
        {"DB1.DBX0.8", 10, "a bit number from 0 to 7"},
        {"DB1.DBX0.", 10, "a bit number from 0 to 7"},
        {"DB1.DBX0.3 ", 11, "the end of the address"},
        {"DB1.DBW4.0", 9, "the end of the address"},
        {"M10", 4, "'.' and a bit number"},
        {"MW", 3, "a byte number"},
        {"MW99999999999999999999", 3, "a byte number"},
        {"MW10x", 5, "the end of the address"},
    };
    for (const auto& one : cases) {
        address found{area::counter, 9, 9, 9, true};
        const address before = found;
        const auto error = parse_address(one.text, found);
        EXPECT_EQ(error.column, one.column) << one.text << ": " << error.text;
        EXPECT_NE(error.text.find(one.says), std::string_view::npos)
            << one.text << ": " << error.text;
        EXPECT_FALSE(error.hint.empty());
        EXPECT_EQ(found, before) << "left as it was";
    }
}

TEST(s7_data_type, every_type_is_taken_with_its_sizes) {
    struct good_type {
        std::string_view text;
        std::string_view canonical;
        std::size_t plc;
        std::size_t slot;
    };
    const std::vector<good_type> cases = {
        {"BOOL", "BOOL", 1, 1},
        {"byte", "BYTE", 1, 1},
        {"WORD", "WORD", 2, 2},
        {"DWord", "DWORD", 4, 4},
        {"LWORD", "LWORD", 8, 8},
        {"SINT", "SINT", 1, 1},
        {"USINT", "USINT", 1, 1},
        {"INT", "INT", 2, 2},
        {"UINT", "UINT", 2, 2},
        {"DINT", "DINT", 4, 4},
        {"UDINT", "UDINT", 4, 4},
        {"LINT", "LINT", 8, 8},
        {"ULINT", "ULINT", 8, 8},
        {"REAL", "REAL", 4, 4},
        {"LREAL", "LREAL", 8, 8},
        {"CHAR", "CHAR", 1, 1},
        {"STRING", "STRING[254]", 256, 764},
        {"STRING[1]", "STRING[1]", 3, 6},
        {"string[20]", "STRING[20]", 22, 62},
        {"ARRAY[0..9] OF INT", "ARRAY[0..9] OF INT", 20, 20},
        {"Array [ -2 .. 2 ] of Real", "ARRAY[-2..2] OF REAL", 20, 20},
        {"ARRAY[1..9] OF BOOL", "ARRAY[1..9] OF BOOL", 2, 9},
        {"ARRAY[0..2] OF STRING[3]", "ARRAY[0..2] OF STRING[3]", 17, 36},
        {"ARRAY[5..5] OF CHAR", "ARRAY[5..5] OF CHAR", 1, 1},
    };
    for (const auto& one : cases) {
        data_type found;
        const auto error = parse_data_type(one.text, found);
        EXPECT_FALSE(error) << one.text << ": " << error.text;
        EXPECT_EQ(to_string(found), one.canonical);
        EXPECT_EQ(plc_size(found), one.plc) << one.text;
        EXPECT_EQ(slot_size(found), one.slot) << one.text;
    }
}

TEST(s7_data_type, an_array_of_bits_counts_from_the_bit_it_starts_at) {
    data_type nine;
    ASSERT_FALSE(parse_data_type("ARRAY[0..8] OF BOOL", nine));
    EXPECT_EQ(plc_size(nine, 0), 2U);
    EXPECT_EQ(plc_size(nine, 7), 2U);
    data_type ten;
    ASSERT_FALSE(parse_data_type("ARRAY[0..9] OF BOOL", ten));
    EXPECT_EQ(plc_size(ten, 7), 3U);
}

TEST(s7_data_type, errors_name_the_column_and_what_was_expected) {
    const std::vector<bad_text> cases = {
        {"", 1, "a data type"},
        {"FLOAT", 1, "a data type"},
        {"INTEGER", 1, "a data type"},
        {"INT4", 4, "the end of the type"},
        {"STRING[0]", 8, "a string length from 1 to 254"},
        {"STRING[255]", 8, "a string length from 1 to 254"},
        {"STRING[20", 10, "']' after the string length"},
        {"ARRAY", 6, "'[' after ARRAY"},
        {"ARRAY[x..2] OF INT", 7, "an array bound"},
        {"ARRAY[0.2] OF INT", 8, "'..' between"},
        {"ARRAY[3..2] OF INT", 10, "not below the lower one"},
        {"ARRAY[0..2,0..2] OF INT", 11, "one dimension"},
        {"ARRAY[0..2 OF INT", 12, "']' after the array bounds"},
        {"ARRAY[0..2] INT", 13, "OF after"},
        {"ARRAY[0..2] OF", 15, "a data type"},
        {"ARRAY[0..9] OF ARRAY[0..9] OF INT", 16, "a data type"},
        {"ARRAY[0..65535] OF INT", 20, "at most 65535 bytes"},
    };
    for (const auto& one : cases) {
        data_type found;
        const auto error = parse_data_type(one.text, found);
        EXPECT_EQ(error.column, one.column) << one.text << ": " << error.text;
        EXPECT_NE(error.text.find(one.says), std::string_view::npos)
            << one.text << ": " << error.text;
    }
}

parse_error fit(std::string_view where, std::string_view type) {
    address parsed_address;
    data_type parsed_type;
    EXPECT_FALSE(parse_address(where, parsed_address)) << where;
    EXPECT_FALSE(parse_data_type(type, parsed_type)) << type;
    return check_fit(parsed_address, parsed_type);
}

TEST(s7_data_type, bits_and_types_have_to_fit_each_other) {
    EXPECT_FALSE(fit("DB1.DBX0.3", "BOOL"));
    EXPECT_TRUE(fit("DB1.DBB0", "BOOL"));
    EXPECT_FALSE(fit("DB1.DBB0", "ARRAY[0..7] OF BOOL"));
    EXPECT_FALSE(fit("DB1.DBX4.0", "STRING[20]"));
    EXPECT_TRUE(fit("DB1.DBX4.1", "INT"));
    EXPECT_FALSE(fit("DB1.DBB8", "LREAL"));
    EXPECT_FALSE(fit("DB1.DBB65532", "REAL"));
    EXPECT_TRUE(fit("DB1.DBB65533", "REAL"));
}

}  // namespace
}  // namespace tagferry::s7::test
