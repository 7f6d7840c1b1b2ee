// The JSON reader against a library: what is taken and what is not.
#include "web/http/json_reader.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <vector>

namespace tagferry::web::testing {
namespace {

bool is_json(std::string_view text) {
    json_reader reader(text);
    for (;;) {
        const json_token token = reader.next();
        if (token == json_token::error) {
            EXPECT_EQ(reader.next(), json_token::error) << "stays so";
            return false;
        }
        if (token == json_token::end) {
            return true;
        }
    }
}

TEST(json_reader, takes_what_a_library_takes_and_nothing_else) {
    for (const std::string_view text : {"",
                                        " ",
                                        "null",
                                        " true ",
                                        "false",
                                        "nul",
                                        "truex",
                                        "0",
                                        "-0",
                                        "01",
                                        "-",
                                        "1.",
                                        ".5",
                                        "1.5",
                                        "1e5",
                                        "1E+5",
                                        "1e",
                                        "1e+",
                                        "+1",
                                        "0x1",
                                        "\"\"",
                                        "\"a",
                                        "\"\\n\\u00e4\"",
                                        "\"\\x\"",
                                        "\"\\u12\"",
                                        "\"\\u12g4\"",
                                        "\"\t\"",
                                        "\"\x7F\"",
                                        "[]",
                                        "[1]",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "[[[]]]",
                                        "[1}",
                                        "{}",
                                        "{\"a\":1}",
                                        "{\"a\":1,}",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{a:1}",
                                        "{1:2}",
                                        "{\"a\":1 \"b\":2}",
                                        "{\"a\":{\"b\":[1,{\"c\":null}]}}",
                                        "1 1",
                                        "[] []",
                                        "{\"a\":1}}",
                                        "\xEF\xBB\xBF\x31",
                                        "\"\xFF\"",
                                        "\"\xC3\xA4\"",
                                        "[\n1\r,\t2 ]"}) {
        EXPECT_EQ(is_json(text), nlohmann::json::accept(text) && !text.starts_with("\xEF")) << text;
    }
    EXPECT_FALSE(is_json(std::string_view("\"a\0b\"", 5)));
    EXPECT_FALSE(is_json(std::string_view("[1\0]", 4)));
}

TEST(json_reader, nesting_is_bounded) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_TRUE(is_json(nested(json_reader::max_depth)));
    EXPECT_FALSE(is_json(nested(json_reader::max_depth + 1)));
    EXPECT_FALSE(is_json(std::string(1'000'000, '[')));
}

TEST(json_reader, escapes_are_resolved) {
    const auto plain = [](std::string_view raw) {
        std::array<char, 64> buffer{};
        return std::string(json_unescape(raw, buffer).value());
    };
    EXPECT_EQ(plain(R"(a\"\\\/\b\f\n\r\tz)"), "a\"\\/\b\f\n\r\tz");
    EXPECT_EQ(plain(R"(\u0041\u00e4\u20AC\ud83d\uDE00)"), "A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
    EXPECT_EQ(plain(R"(\ud83dx)"), "\xEF\xBF\xBDx");
    EXPECT_EQ(plain(R"(\ude00)"), "\xEF\xBF\xBD");
    EXPECT_EQ(plain(R"(\ud83d\u0041)"),
              "\xEF\xBF\xBD"
              "A");
    std::array<char, 3> small{};
    EXPECT_FALSE(json_unescape("abcd", small).has_value());
    EXPECT_TRUE(json_unescape(R"(\u20ac)", small).has_value());
}

TEST(json_reader, values_are_skipped_whole) {
    json_reader reader(R"({"a":{"x":[1,{"y":2}]},"b":3})");
    EXPECT_EQ(reader.next(), json_token::begin_object);
    EXPECT_EQ(reader.next(), json_token::name);
    EXPECT_TRUE(reader.skip(reader.next()));
    EXPECT_EQ(reader.next(), json_token::name);
    EXPECT_EQ(reader.text(), "b");
    EXPECT_TRUE(reader.skip(reader.next()));
    EXPECT_EQ(reader.next(), json_token::end_object);
    EXPECT_EQ(reader.next(), json_token::end);
    json_reader broken("[[1}");
    EXPECT_FALSE(broken.skip(broken.next()));
}

}  // namespace
}  // namespace tagferry::web::testing
