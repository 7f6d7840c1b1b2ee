// Percent-decoding, targets, queries, durations and patterns.
#include "web/http/url.hpp"

#include "web/api/parameters.hpp"
#include "web/backend/pattern.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace tagferry::web {
namespace {

std::string decoded(std::string_view text, plus_sign plus = plus_sign::literal) {
    decode_buffer buffer;
    const auto result = percent_decode(text, plus, buffer);
    return result ? std::string(*result) : "refused";
}

TEST(percent_decode, decodes_once) {
    EXPECT_EQ(decoded("a%2fb%2Fc"), "a/b/c");
    EXPECT_EQ(decoded("a%252Fb"), "a%2Fb");
    EXPECT_EQ(decoded("a+b"), "a+b");
    EXPECT_EQ(decoded("a+b%2B", plus_sign::space), "a b+");
    EXPECT_EQ(decoded(""), "");
}

// Long texts are looked at in groups: nothing may hide in one.
TEST(percent_decode, every_place_of_a_long_text_is_looked_at) {
    const std::string text = "plant/line one/tank/level/of the day";
    EXPECT_EQ(decoded(text), text);
    EXPECT_EQ(decoded(text, plus_sign::space), text);
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto with = [&](std::string_view put) {
            return std::string(text).replace(at, 1, put);
        };
        EXPECT_EQ(decoded(with("%41")), with("A"));
        EXPECT_EQ(decoded(with("+"), plus_sign::space), with(" "));
        EXPECT_EQ(decoded(with("+")), with("+"));
        EXPECT_EQ(decoded(with("\xC3\xBC")), with("\xC3\xBC"));
        for (const std::string_view bad : {"\x7F", "\x1F", "\xFC", "\n"}) {
            EXPECT_EQ(decoded(with(bad)), "refused") << at;
        }
    }
}

TEST(percent_decode, refuses_what_is_not_text) {
    for (const std::string_view text : {"%", "%2", "%2g", "%%", "%00", "a%1F", "%7f", "%C3", "%FF",
                                        "%C0%AF", "%ED%A0%80", "%F4%90%80%80", "\x01"}) {
        EXPECT_EQ(decoded(text), "refused") << text;
    }
}

TEST(percent_decode, refuses_a_buffer_that_is_too_small) {
    std::array<char, 3> buffer{};
    EXPECT_TRUE(percent_decode("abc", plus_sign::literal, buffer));
    EXPECT_FALSE(percent_decode("abcd", plus_sign::literal, buffer));
}

TEST(split_target, takes_the_forms_of_a_server) {
    EXPECT_EQ(split_target("/a/b?c=d?e")->path, "/a/b");
    EXPECT_EQ(split_target("/a/b?c=d?e")->query, "c=d?e");
    EXPECT_EQ(split_target("/")->query, "");
    EXPECT_EQ(split_target("http://host/a?b")->path, "/a");
    EXPECT_EQ(split_target("https://host")->path, "/");
    EXPECT_EQ(split_target("http://host?b")->query, "b");
    EXPECT_EQ(split_target("*")->path, "*");
    for (const std::string_view text : {"", "a", "http:///a", "ftp://h/a", "/a#b", "host:80"}) {
        EXPECT_FALSE(split_target(text)) << text;
    }
}

TEST(query_reader, walks_and_goes_on) {
    query_reader reader("&a=1&&b&c=x=y&");
    auto one = reader.next();
    EXPECT_EQ(one->name, "a");
    EXPECT_EQ(one->value, "1");
    query_reader second("&a=1&&b&c=x=y&", reader.position());
    one = second.next();
    EXPECT_EQ(one->name, "b");
    EXPECT_EQ(one->value, "");
    one = second.next();
    EXPECT_EQ(one->name, "c");
    EXPECT_EQ(one->value, "x=y");
    EXPECT_FALSE(second.next());
    EXPECT_FALSE(second.next());
}

TEST(parse_duration, units) {
    using namespace std::chrono_literals;
    EXPECT_EQ(parse_duration("0"), 0s);
    EXPECT_EQ(parse_duration("2"), 2s);
    EXPECT_EQ(parse_duration("0.5"), 500ms);
    EXPECT_EQ(parse_duration("500ms"), 500ms);
    EXPECT_EQ(parse_duration("1m"), 60s);
    for (const std::string_view text : {"", "s", "-1", "1h", "inf", "nan", "1e9", "99999", "1 s"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

TEST(pattern, stars_and_question_marks) {
    EXPECT_TRUE(matches("", "anything/at/all"));
    EXPECT_TRUE(matches("a/*", "a/b"));
    EXPECT_FALSE(matches("a/*", "a/b/c"));
    EXPECT_TRUE(matches("a/**", "a/b/c"));
    EXPECT_TRUE(matches("**/c", "a/b/c"));
    EXPECT_FALSE(matches("**/c", "c"));
    EXPECT_TRUE(matches("*/*/c*", "a/b/c1"));
    EXPECT_TRUE(matches("a/**b*d", "a/b/x/bcd"));
    EXPECT_TRUE(matches("m?hle", "m\xC3\xBChle"));
    EXPECT_FALSE(matches("a?b", "a/b"));
    EXPECT_FALSE(matches("a", "ab"));
    EXPECT_FALSE(matches("ab", "a"));
    EXPECT_TRUE(matches("***", "a/b"));
    EXPECT_EQ(literal_prefix("press/t*"), "press/t");
    EXPECT_EQ(literal_prefix("press"), "press");
}

TEST(pattern, cost_stays_polynomial) {
    std::string pattern;
    for (int i = 0; i < 100; ++i) {
        pattern += "**a";
    }
    const std::string path(4000, 'a');
    EXPECT_FALSE(matches(pattern + "b", path));
}

}  // namespace
}  // namespace tagferry::web
