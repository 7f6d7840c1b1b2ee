#include "gateway/config/tag_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tagferry::gateway::config {
namespace {

using testing::ElementsAre;

struct reading {
    connection owner;
    std::vector<std::string> lines;
};

reading read(std::string text) {
    reading result;
    diagnostics found;
    read_tag_file(std::move(text), found.add_source("f"), result.owner, found);
    found.sort();
    for (const auto& finding : found.findings()) {
        result.lines.push_back(found.render(finding));
    }
    return result;
}

TEST(tag_csv, every_separator_is_known_by_content) {
    for (const std::string separator : {",", ";", "\t"}) {
        SCOPED_TRACE(separator);
        std::string text =
            "path,address,type,unit,writable\r\nx/y,MW0,INT,\"m\"\"m\",true\r\n\r\nz,MW2,INT,,\r\n";
        for (std::size_t at = text.find(','); at != std::string::npos;
             at = text.find(',', at + 1)) {
            text.replace(at, 1, separator);
        }
        const auto result = read(text);
        EXPECT_THAT(result.lines, ElementsAre());
        ASSERT_EQ(result.owner.tags.size(), 2u);
        EXPECT_EQ(result.owner.tags[0].path, "x/y");
        EXPECT_EQ(result.owner.tags[0].unit, "m\"m");
        EXPECT_TRUE(result.owner.tags[0].writable);
        EXPECT_EQ(result.owner.tags[1].path, "z");
        EXPECT_FALSE(result.owner.tags[1].writable);
        EXPECT_EQ(result.owner.tags[1].path_at.line, 4u);
    }
}

TEST(tag_csv, quotes_hold_separators_and_columns_come_in_any_order) {
    const auto result = read("\xEF\xBB\xBFtype,description,path,address\nINT, \"a, ü; b\" ,p,MW0");
    EXPECT_THAT(result.lines, ElementsAre());
    ASSERT_EQ(result.owner.tags.size(), 1u);
    EXPECT_EQ(result.owner.tags[0].description, "a, ü; b");
    EXPECT_EQ(result.owner.tags[0].path_at.column, 17u);
}

TEST(tag_csv, faults_name_their_cell) {
    struct fault {
        const char* text;
        const char* line;
    };
    const std::vector<fault> faults = {
        {"",
         "f:1:1: error: the file is empty (the first line names the columns: "
         "path,address,type)"},
        {"path,adress,type\n",
         "f:1:1: error: the column \"address\" is missing (the first line names the columns: "
         "path,address,type)|f:1:6: error: unknown column \"adress\" (did you mean \"address\"?)"},
        {"path,address,type,path\n", "f:1:19: error: the column \"path\" is given twice"},
        {"path,address,type\nx,,INT\n", "f:2:3: error: \"address\" is missing (e.g. DB1.DBD0)"},
        {"path,address,type\nx,MW0\n", "f:2:1: error: \"type\" is missing (e.g. REAL)"},
        {"path,address,type\nx,MW0,INT,mm\n",
         "f:2:11: error: more cells than columns (a text with the separator in it needs quotes)"},
        {"path,address,type\n\"x,MW0,INT\ny,MW0,INT\n",
         "f:2:1: error: the cell has no closing quote (close it with \" in the same line)"},
        {"path,address,type\n\"x\"y,MW0,INT\n",
         "f:2:4: error: unexpected text after the closing quote (a quote inside a cell is written "
         "twice)"},
        {"path,address,type,unit\nx,MW0,INT,\xB0"
         "C\n",
         "f:2:11: error: not UTF-8 text (save the file as CSV UTF-8)"},
        {"path,address,type,writable\nx,MW0,INT,yes\n",
         "f:2:11: error: \"yes\" is no value for \"writable\" (write true or false)"},
        {"path,address,type,stale_after_ms\nx,MW0,INT,-1\n",
         "f:2:11: error: \"stale_after_ms\" is out of range: -1 ms (0 to 86400000 ms)"},
    };
    for (const fault& each : faults) {
        SCOPED_TRACE(each.text);
        std::string joined;
        auto lines = read(each.text).lines;
        std::sort(lines.begin(), lines.end());
        for (const std::string& line : lines) {
            joined += (joined.empty() ? "" : "|") + line;
        }
        EXPECT_EQ(joined, each.line);
    }
}

TEST(tag_json, a_list_or_an_object_of_one) {
    for (const char* text : {R"([{"path": "x", "address": "MW0", "type": "INT"}])",
                             R"(// tags
                             {"tags": [{"path": "x", "address": "MW0", "type": "INT"}]})"}) {
        const auto result = read(text);
        EXPECT_THAT(result.lines, ElementsAre());
        EXPECT_EQ(result.owner.tags.size(), 1u);
    }
}

TEST(tag_json, faults_are_located) {
    EXPECT_THAT(read(R"({"tags": [], "more": 1})").lines,
                ElementsAre("f:1:1: error: the object must hold \"tags\" and nothing else"));
    EXPECT_THAT(read("[\n7, {\"path\": \"x\"}]").lines,
                ElementsAre("f:2:1: error: a tag is an object: {…}",
                            "f:2:4: error: \"address\" is missing (e.g. \"address\": "
                            "\"DB1.DBD0\")",
                            "f:2:4: error: \"type\" is missing (e.g. \"type\": \"REAL\")"));
}

}  // namespace
}  // namespace tagferry::gateway::config
