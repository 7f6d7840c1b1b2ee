#include "gateway/model/tag_path.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace tagferry::gateway {
namespace {

using names = std::vector<std::string_view>;

TEST(tag_path, joins_names_with_slashes) {
    EXPECT_EQ(make_path(names{"press", "tank", "level"}), "press/tank/level");
    EXPECT_EQ(make_path(names{"press"}), "press");
}

TEST(tag_path, escapes_what_would_change_the_structure) {
    EXPECT_EQ(make_path(names{"a/b", "50%", "x\ty"}), "a%2Fb/50%25/x%09y");
    EXPECT_EQ(make_path(names{"del\x7F"}), "del%7F");
    EXPECT_EQ(make_path(names{std::string_view("nul\0", 4)}), "nul%00");
    EXPECT_EQ(make_path(names{"Füllstand °C"}), "Füllstand °C");
}

TEST(tag_path, makes_the_path_of_a_child_in_place) {
    std::array<char, 10> memory{};
    const auto made = [&](std::string_view parent, std::string_view name) {
        return std::string(memory.data(), child_path(parent, name, memory));
    };
    EXPECT_EQ(made("", "press"), "press");
    EXPECT_EQ(made("a%2Fb", "/"), "a%2Fb/%2F");
    EXPECT_EQ(child_path("123456", "1234", memory), 0u);
}

TEST(tag_path, refuses_names_that_are_none) {
    EXPECT_FALSE(make_path(names{}));
    EXPECT_FALSE(make_path(names{"a", ""}));
    EXPECT_FALSE(make_path(names{"."}));
    EXPECT_FALSE(make_path(names{"a", ".."}));
    EXPECT_FALSE(make_path(names{"\xC0\xAF"}));
    EXPECT_FALSE(make_path(names(max_path_names + 1, "a")));
    const std::string longest(max_path_size, 'a');
    EXPECT_TRUE(make_path(names{longest}));
    EXPECT_FALSE(make_path(names{longest, "a"}));
}

TEST(tag_path, parses_only_what_it_makes) {
    EXPECT_EQ(parse_path("a%2Fb/c"), (std::vector<std::string>{"a/b", "c"}));
    for (const std::string_view wrong : {"", "/", "a//b", "/a", "a/", "a%2fb", "a%41", "a%2", "a%",
                                         "a%zz", "a\tb", "./a", "a/.."}) {
        EXPECT_FALSE(parse_path(wrong)) << wrong;
    }
}

TEST(tag_path, takes_typed_escapes_of_any_kind) {
    EXPECT_EQ(canonical_path("a%2fb/%41"), "a%2Fb/A");
    EXPECT_FALSE(canonical_path("a%"));
    EXPECT_FALSE(canonical_path(std::string(100'000, '/')));
}

TEST(tag_path, has_one_form_for_each_surface) {
    EXPECT_EQ(node_id_text("press/a%2Fb"), "ns=3;s=press/a%2Fb");
    EXPECT_EQ(url_path("press/a%2Fb °"), "press/a%252Fb%20%C2%B0");
}

TEST(tag_path, every_name_survives_the_round_trip) {
    std::mt19937 random{1};
    const std::array<std::string, 8> pieces = {"/", "%", "\n", "a", "é", "%2F", "..", "\x7F"};
    for (int run = 0; run < 2'000; ++run) {
        std::vector<std::string> made(1 + random() % 4);
        for (std::string& name : made) {
            name = "x";
            for (std::size_t i = random() % 6; i > 0; --i) {
                name += pieces[random() % pieces.size()];
            }
        }
        const auto path = make_path(names(made.begin(), made.end()));
        ASSERT_TRUE(path);
        EXPECT_EQ(parse_path(*path), made);
        EXPECT_EQ(canonical_path(*path), path);
    }
}

TEST(tag_path, knows_utf8) {
    for (const std::string_view good : {"", "a", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
        EXPECT_TRUE(is_utf8(good));
    }
    for (const std::string_view bad :
         {"\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC2\x41"}) {
        EXPECT_FALSE(is_utf8(bad));
    }
}

}  // namespace
}  // namespace tagferry::gateway
