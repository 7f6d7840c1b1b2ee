#include "gateway/config/located_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway::config {
namespace {

struct reading {
    diagnostics found;
    located_tree tree;
    std::vector<std::string> lines;
};

reading read(std::string text, const tree_limits& limits = {}) {
    diagnostics found;
    const std::uint32_t source = found.add_source("f");
    located_tree tree = located_tree::read(std::move(text), source, found, limits);
    found.sort();
    std::vector<std::string> lines;
    for (const auto& finding : found.findings()) {
        lines.push_back(found.render(finding));
    }
    return {std::move(found), std::move(tree), std::move(lines)};
}

// The member of an object, which must exist.
const node& member(const located_tree& tree, const node& object, std::string_view key) {
    for (const node* child = tree.child(object); child != nullptr; child = tree.next(*child)) {
        if (child->key == key) {
            return *child;
        }
    }
    ADD_FAILURE() << "no member " << key;
    return object;
}

std::string place(location where) {
    return std::to_string(where.line) + ":" + std::to_string(where.column);
}

TEST(located_tree, knows_where_keys_and_values_are) {
    const auto [found, tree, lines] = read("{\n  \"a\": 1,\n  \"list\": [ true , \"x\" ]\n}");
    EXPECT_TRUE(found.ok());
    const node& a = member(tree, *tree.root(), "a");
    EXPECT_EQ(place(tree.key_at(a)), "2:3");
    EXPECT_EQ(place(tree.at(a)), "2:8");
    EXPECT_EQ(a.integer, 1);
    const node& list = member(tree, *tree.root(), "list");
    EXPECT_EQ(place(tree.at(list)), "3:11");
    const node* first = tree.child(list);
    EXPECT_EQ(place(tree.at(*first)), "3:13");
    EXPECT_EQ(place(tree.at(*tree.next(*first))), "3:20");
    EXPECT_EQ(place(tree.inside(*tree.next(*first), 0)), "3:21");
}

TEST(located_tree, counts_characters_not_bytes) {
    const auto [found, tree, lines] = read("{ \"größe €𝄞\": \"ü\", \"b\": 2 }");
    EXPECT_TRUE(found.ok());
    EXPECT_EQ(place(tree.at(member(tree, *tree.root(), "b"))), "1:25");
}

TEST(located_tree, counts_lines_of_every_line_end) {
    const auto [found, tree, lines] = read("{\r\n\"a\": 1,\r\n\r\n \"b\": 2,\r\"c\": 3 }");
    EXPECT_TRUE(found.ok());
    EXPECT_EQ(place(tree.at(member(tree, *tree.root(), "a"))), "2:6");
    EXPECT_EQ(place(tree.at(member(tree, *tree.root(), "b"))), "4:7");
    EXPECT_EQ(place(tree.at(member(tree, *tree.root(), "c"))), "5:6");
}

TEST(located_tree, skips_comments_and_what_looks_like_structure_in_them) {
    const auto [found, tree, lines] = read(
        "// { \"a\": 1,\n{ /* \"b\": [ \" */ \"a\" /* : */ : // 7,\n  2, // }\n\"c\": \"// no\"}");
    EXPECT_TRUE(found.ok());
    EXPECT_EQ(place(tree.key_at(member(tree, *tree.root(), "a"))), "2:18");
    EXPECT_EQ(place(tree.at(member(tree, *tree.root(), "a"))), "3:3");
    EXPECT_EQ(member(tree, *tree.root(), "c").text, "// no");
}

TEST(located_tree, unescapes_texts_and_keeps_positions_behind_them) {
    const auto [found, tree, lines] =
        read(R"({ "a\u00fc\"": "\\\"\n\ud834\udd1e", "b": "plain" })");
    EXPECT_TRUE(found.ok());
    EXPECT_EQ(member(tree, *tree.root(), "aü\"").text, "\\\"\n𝄞");
    EXPECT_EQ(place(tree.at(member(tree, *tree.root(), "b"))), "1:43");
}

TEST(located_tree, a_byte_order_mark_is_no_column) {
    const auto [found, tree, lines] = read("\xEF\xBB\xBF{\"a\": x}");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0], "f:1:7: error: \"x\" is no value (a text needs double quotes: \"x\")");
}

TEST(located_tree, numbers_keep_their_kind) {
    const auto [found, tree, lines] =
        read("[1, -9223372036854775808, 9223372036854775807, 9223372036854775808, 1.5, 2e3]");
    std::vector<node_kind> kinds;
    for (const node* child = tree.child(*tree.root()); child != nullptr;
         child = tree.next(*child)) {
        kinds.push_back(child->kind);
    }
    using enum node_kind;
    EXPECT_EQ(kinds, (std::vector{integer, integer, integer, real, real, real}));
}

TEST(located_tree, duplicate_keys_are_errors_at_the_second) {
    const auto [found, tree, lines] = read("{\"a\": 1,\n \"b\": {\"a\": 2},\n \"a\": 3}");
    EXPECT_EQ(lines, std::vector<std::string>{
                         "f:3:2: error: \"a\" is given twice (the first is in line 1)"});
}

TEST(located_tree, limits_are_errors) {
    EXPECT_THAT(read(std::string(17, '[') + std::string(17, ']')).lines,
                testing::ElementsAre("f:1:17: error: nested deeper than 16 levels"));
    EXPECT_THAT(read("[1,2,3]", {.nodes = 3}).lines,
                testing::ElementsAre("f:1:6: error: the text holds more than 3 values"));
    EXPECT_THAT(read("{\"a\":1,\"b\":2,\"c\":3}", {.keys_per_object = 2}).lines,
                testing::ElementsAre("f:1:14: error: an object of more than 2 keys"));
    EXPECT_THAT(read("[1111]", {.bytes = 5}).lines,
                testing::ElementsAre("f:1:1: error: the file is larger than 5 bytes (move tags "
                                     "into side files: tag_files)"));
}

// UTF-16, as some editors save it.
TEST(located_tree, nul_bytes_are_one_error) {
    EXPECT_THAT(read(std::string("{\0}\0", 4)).lines,
                testing::ElementsAre("f:1:2: error: a NUL byte: this is no UTF-8 text (save the "
                                     "file as UTF-8)"));
}

struct fault {
    const char* text;
    std::vector<std::string> lines;
    const char* survives = nullptr;  // a key whose value 7 must still be found
};

TEST(syntax_repair, says_what_is_wrong_and_reads_on) {
    const std::vector<fault> faults = {
        {"", {"1:1: error: the file is empty (the smallest configuration is {})"}},
        {"{\"a\": 1 \"b\": 7}",
         {"1:8: error: ',' is missing after the value (add a comma here)"},
         "b"},
        {"{\"a\": 1 // x\n\"b\": 7}",
         {"1:8: error: ',' is missing after the value (add a comma here)"},
         "b"},
        {"{\"a\":\"1\"\"b\":7}", {"1:9: error: ',' is missing before this"}, "b"},
        {"{\"b\": 7,}", {"1:8: error: a comma after the last element (remove it)"}, "b"},
        {"{\"a\": [1,2,],\"b\": 7}",
         {"1:11: error: a comma after the last element (remove it)"},
         "b"},
        {"{\"a\": 1,, \"b\": 7}", {"1:8: error: two commas in a row (remove it)"}, "b"},
        {"{\"a\": [,1], \"b\": 7}",
         {"1:8: error: a value is missing before ',' (remove the comma)"},
         "b"},
        {"{\"a\" 1, \"b\": 7}", {"1:5: error: ':' is missing after the key"}, "b"},
        {"{\"a\" = 1, \"b\": 7}", {"1:6: error: ':' is expected after a key, not '='"}, "b"},
        {"{\"a\":: 1, \"b\": 7}", {"1:6: error: unexpected ':'"}, "b"},
        {"{\"a\": , \"b\": 7}", {"1:6: error: the value is missing after ':'"}, "b"},
        {"{\"b\": 7, \"a\": }", {"1:14: error: the value is missing after ':'"}, "b"},
        {"{\"b\": 7, \"a\"}", {"1:13: error: ':' and a value are missing after the key"}, "b"},
        {"{a: 1, \"b\": 7}", {"1:2: error: a key needs double quotes (write \"a\")"}, "b"},
        {"{'a': 'x', 'b': 7}",
         {"1:2: error: a text in single quotes (use double quotes)",
          "1:7: error: a text in single quotes (use double quotes)",
          "1:12: error: a text in single quotes (use double quotes)"},
         "b"},
        {"{\"a\": True, \"b\": 7}", {"1:7: error: \"True\" is no value (write true)"}, "b"},
        {"{\"a\": op, \"b\": 7}",
         {"1:7: error: \"op\" is no value (a text needs double quotes: \"op\")"},
         "b"},
        {"{\"a\": 0x10, \"b\": 7}",
         {"1:7: error: \"0x10\" is no number (hexadecimal numbers are not known here, write it "
          "decimal)"},
         "b"},
        {"{\"a\": 007, \"b\": 7}",
         {"1:7: error: \"007\" is no number (a number has no leading zeros)"},
         "b"},
        {"{\"a\": 10ms, \"b\": 7}",
         {"1:7: error: \"10ms\" is no number (a text needs double quotes, a number no unit)"},
         "b"},
        {"{\"a\": \"x\"y\",\n \"b\": 7}",
         {"1:10: error: unexpected text directly behind a text or number (is a quote missing in "
          "this line?)"},
         "b"},
        {"{\"a: \"x\",\n \"b\": 7}",
         {"1:7: error: unexpected text directly behind a text or number (is a quote missing in "
          "this line?)"},
         "b"},
        {"{\"a\": \"x,\n \"b\": 7}",
         {"1:7: error: the text has no closing quote (close it with \" in the same line)"},
         "b"},
        {"{\"a\": \"x\\q\", \"b\": 7}",
         {"1:9: error: an unknown escape in a text (a backslash is written as \\\\)"},
         "b"},
        {"{\"a\": \"\\ud834x\", \"b\": 7}",
         {"1:8: error: a \\u escape that is no character (four hexadecimal digits follow \\u; "
          "UTF-8 text needs no escapes)"},
         "b"},
        {"{\"a\": \"x\ty\", \"b\": 7}",
         {"1:9: error: a control character in a text (write tabs as \\t)"},
         "b"},
        {"{\"a\": \"x\xFFy\", \"b\": 7}",
         {"1:9: error: not UTF-8 text (save the file as UTF-8)"},
         "b"},
        {"{\"b\": 7 # x\n}", {"1:9: error: a comment begins with //"}, "b"},
        {"{\"b\": 7 } /* x", {"1:11: error: the comment has no end (close it with */)"}, "b"},
        {"{\"b\": 7} }",
         {"1:10: error: text after the end of the configuration (is there a closing bracket too "
          "many before it?)"},
         "b"},
        {"{\"a\": [1, 2, \"b\": 7}", {"1:17: error: unexpected ':'"}},
        {"{\"b\": 7, \"a\": {\"c\": [1, 2}}",
         {"1:26: error: ']' is expected here, not '}' (it closes the '[' of line 1)"},
         "b"},
        {"{\"b\": 7 ]}", {"1:9: error: unexpected ']' (nothing is open that it closes)"}, "b"},
        {"{\"b\": 7, // end",
         {"1:1: error: '{' is never closed (the file ends before its '}')"},
         "b"},
    };
    for (const fault& each : faults) {
        SCOPED_TRACE(each.text);
        const auto result = read(each.text);
        std::vector<std::string> expected;
        for (const std::string& line : each.lines) {
            expected.push_back("f:" + line);
        }
        if (each.survives != nullptr) {
            EXPECT_EQ(result.lines, expected);
            ASSERT_NE(result.tree.root(), nullptr);
            EXPECT_EQ(member(result.tree, *result.tree.root(), each.survives).integer, 7);
        } else {
            ASSERT_FALSE(result.lines.empty());
            EXPECT_EQ(result.lines.front(), expected.front());
        }
    }
}

TEST(syntax_repair, ends_on_any_garbage) {
    std::string text = "{";
    for (int index = 0; index < 200; ++index) {
        text += "}]:,'x\"\\";
    }
    const auto result = read(text);
    EXPECT_GE(result.lines.size(), 1u);
    EXPECT_LE(result.lines.size(), 25u);
}

// Whatever byte is left out of a correct text, it is read to an end, and a fault is located inside
// it.
TEST(syntax_repair, any_missing_byte_is_located) {
    const std::string whole =
        "{ // c\n \"opcua\": { \"listen\": [\"127.0.0.1:0\"], \"x\": true },\n \"n\": [1, -2.5, "
        "null]\n}\n";
    for (std::size_t left_out = 0; left_out < whole.size(); ++left_out) {
        std::string text = whole;
        text.erase(left_out, 1);
        const auto result = read(text);
        for (const auto& finding : result.found.findings()) {
            EXPECT_GE(finding.where.line, 1u);
            EXPECT_LE(finding.where.line, 5u);
            EXPECT_GE(finding.where.column, 1u);
        }
    }
}

}  // namespace
}  // namespace tagferry::gateway::config
