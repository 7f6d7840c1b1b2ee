#include "gateway/config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of(const load_result& result) {
    std::vector<std::string> lines;
    for (const auto& finding : result.found.findings()) {
        lines.push_back(result.found.render(finding));
    }
    return lines;
}

// A folder of the test's own, removed with what is in it.
class folder {
  public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "tagferry_XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~folder() { std::filesystem::remove_all(path_); }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    std::string write(std::string_view name, std::string_view text) const {
        const auto file = path_ / name;
        std::ofstream{file, std::ios::binary} << text;
        return file.string();
    }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

constexpr std::string_view whole = R"({
  // the example of the design
  "state_directory": "/var/lib/tagferry",
  "opcua": { "listen": ["127.0.0.1:4840"], "allow_none_policy": true,
             "allow_anonymous_write": false },
  "web":   { "listen": ["localhost:8080", "[::1]:8081"] },
  "connections": [{
    "name": "press", "protocol": "s7", "host": "192.0.2.10", "port": 102, "family": "s7-1500",
    "rack": 0, "slot": 1, "connection_type": "op", "pdu_size": 960, "max_jobs": 8,
    "scan_classes": [{ "name": "fast", "interval_ms": 100 },
                     { "name": "slow", "interval_ms": 1000 }],
    "tags": [
      { "path": "tank/level", "address": "DB1.DBD0", "type": "REAL", "scan_class": "slow" },
      { "path": "recipe/name", "address": "DB1.DBB10", "type": "STRING[20]", "writable": true }
    ]
  }]
})";

TEST(config_load, takes_every_value_and_works_out_the_rest) {
    const auto result = load_text(whole, "t.json", "");
    EXPECT_THAT(lines_of(result), ElementsAre());
    EXPECT_TRUE(result.value.opcua.allow_none_policy);
    ASSERT_EQ(result.value.web.listen.size(), 2u);
    EXPECT_EQ(result.value.web.listen[0].host, "127.0.0.1");
    EXPECT_EQ(result.value.web.listen[1].host, "::1");
    EXPECT_EQ(result.value.web.listen[1].port, 8081);
    ASSERT_EQ(result.value.connections.size(), 1u);
    const connection& press = result.value.connections[0];
    EXPECT_EQ(press.family, plc_family::s7_1500);
    EXPECT_EQ(press.remote_tsap, 0x0201);
    ASSERT_EQ(press.tags.size(), 2u);
    EXPECT_EQ(press.tags[0].scan_class, 1u);
    EXPECT_EQ(press.tags[0].stale_after_ms, 3'000u);
    EXPECT_EQ(press.tags[1].scan_class, 0u);
    EXPECT_EQ(press.tags[1].stale_after_ms, 300u);
    EXPECT_TRUE(press.tags[1].writable);
    EXPECT_EQ(press.tags[1].path_at.line, 14u);
    EXPECT_EQ(press.tags[1].path_at.column, 18u);
}

TEST(config_load, a_server_no_client_can_use_is_a_warning) {
    const auto result = load_text("{\"opcua\": {\n\"allow_none_policy\": false}}", "t.json", "");
    EXPECT_TRUE(result.found.ok());
    EXPECT_THAT(lines_of(result),
                ElementsAre("t.json:2:22: warning: no OPC UA client can connect while "
                            "\"allow_none_policy\" is false (this version has no encryption yet: "
                            "set opcua.allow_none_policy to true)"));
}

TEST(config_load, nothing_written_is_a_whole_configuration) {
    const auto result = load_text("{}", "t.json", "");
    EXPECT_THAT(lines_of(result), ElementsAre(HasSubstr("no OPC UA client can connect")));
    ASSERT_EQ(result.value.opcua.listen.size(), 1u);
    EXPECT_EQ(result.value.opcua.listen[0].port, 4840);
    EXPECT_THAT(result.value.opcua.application_uri, testing::StartsWith("urn:"));
    EXPECT_EQ(result.value.web.listen[0].port, 8080);
}

// The case the product is judged by: faults of syntax and of meaning in one file, each with its
// place and what to do, all at once.
TEST(config_load, five_faults_of_syntax_and_meaning_give_five_lines) {
    constexpr std::string_view five = R"({
  // An unknown key, a missing comma, a range, an unknown scan class, a comma too many.
  "state_directry": "/var/lib/tagferry",
  "opcua": { "listen": ["127.0.0.1:4840"] "allow_none_policy": true },
  "connections": [{
    "name": "press", "host": "192.0.2.10", "port": 70000,
    "scan_classes": [{ "name": "fast", "interval_ms": 100 }],
    "tags": [
      { "path": "größe/level", "address": "DB1.DBD0", "type": "REAL", "scan_class": "fsat" },
      { "path": "on", "address": "DB1.DBX4.0", "type": "BOOL", }
    ]
  }]
}
)";
    EXPECT_THAT(
        lines_of(load_text(five, "tagferry.json", "")),
        ElementsAre(
            "tagferry.json:3:3: error: unknown key \"state_directry\" (did you mean "
            "\"state_directory\"?)",
            "tagferry.json:4:42: error: ',' is missing after the value (add a comma here)",
            "tagferry.json:6:52: error: \"port\" is out of range: 70000 (1 to 65535)",
            "tagferry.json:9:86: error: unknown scan class \"fsat\" (did you mean \"fast\"?)",
            "tagferry.json:10:62: error: a comma after the last element (remove it)"));
}

struct fault {
    const char* text;
    const char* line;
};

TEST(config_load, every_check_names_the_place_and_what_to_do) {
    const std::vector<fault> faults = {
        {R"({"opcua": {"listen": "127.0.0.1:1"}})",
         "t:1:22: error: \"listen\" is a text (write a list of texts: [\"…\"])"},
        {R"({"opcua": {"listen": ["0.0.0.0:4840"]}})",
         "t:1:24: error: \"0.0.0.0\" is not a loopback address (this version has no users and no "
         "encryption yet and listens on 127.0.0.1 or [::1] only)"},
        {R"({"web": {"listen": ["127.0.0.1"]}})",
         "t:1:22: error: the port is missing (write address:port, e.g. 127.0.0.1:4840)"},
        {R"({"web": {"listen": ["127.0.0.1:65536"]}})",
         "t:1:32: error: \"65536\" is no port (0 to 65535, 0 for any free one)"},
        {R"({"web": {"listen": ["::1:8080"]}})",
         "t:1:22: error: an IPv6 address needs brackets (e.g. [::1]:4840)"},
        {R"({"web": {"listen": ["example.com:8080"]}})",
         "t:1:22: error: \"example.com\" is no numeric address (write address:port, e.g. "
         "127.0.0.1:4840)"},
        {R"({"web": {"listen": ["127.0.0.1:4840"]}})",
         "t:1:21: error: port 4840 of 127.0.0.1 is taken twice (OPC UA and web need ports of "
         "their own)"},
        {R"({"log": {"level": "warn"}})",
         "t:1:19: error: \"warn\" is no \"level\" (did you mean \"warning\"?)"},
        {R"({"log": {"level": "loud"}})",
         "t:1:19: error: \"loud\" is no \"level\" (one of debug, info, warning, error)"},
        {R"({"log": {"level": "wraning"}})",
         "t:1:19: error: \"wraning\" is no \"level\" (did you mean \"warning\"?)"},
        {R"({"shards": 1.5})",
         "t:1:12: error: \"shards\" is a number that is not whole or too large (write a whole "
         "number)"},
        {R"({"shards": 99})", "t:1:12: error: \"shards\" is out of range: 99 (1 to 16)"},
        {R"({"shards": null})", "t:1:12: error: \"shards\" is null (write a whole number)"},
        {R"({"Connections": []})",
         "t:1:2: error: unknown key \"Connections\" (did you mean \"connections\"?)"},
        {R"({"connections": [7]})",
         "t:1:18: error: an element of \"connections\" is a number (write a list of objects: "
         "[{…}])"},
        {R"({"connections": [{"name": "a"}]})",
         "t:1:18: error: \"host\" is missing (e.g. \"host\": \"192.0.2.10\")"},
        {R"({"connections": [{"name": "a", "host": ""}]})", "t:1:40: error: \"host\" is empty"},
        {R"({"connections": [{"name": "a/b", "host": "h"}]})",
         "t:1:28: error: \"a/b\" cannot be a connection's name (a name has no '/', and '%' only "
         "in escapes such as %25)"},
        {R"({"connections": [{"name": "a", "host": "h:102"}]})",
         "t:1:42: error: the host holds a port (write it into \"port\")"},
        {R"({"connections": [{"name": "a", "host": "h"}, {"name": "a", "host": "i"}]})",
         "t:1:56: error: the connection name \"a\" is given twice (first in t:1)"},
        {R"({"connections": [{"name": "a", "host": "h", "back_off_ms":
            {"min": 900, "max": 800}}]})",
         "t:2:13: error: \"min\" is above \"max\""},
        {R"({"opcua": {"limits": {"max_sesions": 3}}})",
         "t:1:23: error: unknown key \"max_sesions\" (did you mean \"max_sessions\"?)"},
        {R"([])", "t:1:1: error: the configuration is an object: {…}"},
    };
    for (const fault& each : faults) {
        SCOPED_TRACE(each.text);
        EXPECT_THAT(lines_of(load_text(each.text, "t", "")), ElementsAre(each.line));
    }
}

std::string with_tags(std::string_view tags) {
    return R"({"connections": [{"name": "a", "host": "h", "tags": [)"
           "\n" +
           std::string{tags} + "\n]}]}";
}

TEST(config_load, tags_are_checked_together) {
    const std::vector<fault> faults = {
        {R"({"path": "x", "address": "MW0", "type": "INT"},
            {"path": "x", "address": "MW2", "type": "INT"})",
         "t:3:23: error: the path \"x\" is given twice (first in t:2)"},
        {R"({"path": "x", "address": "MW0", "type": "INT"},
            {"path": "x/y", "address": "MW2", "type": "INT"})",
         "t:3:23: error: \"x\" is a tag and cannot be a group too (the tag is in t:2)"},
        {R"({"path": "x%", "address": "MW0", "type": "INT"})",
         "t:2:11: error: \"x%\" is no path (names separated by '/', none of them empty, \".\" or "
         "\"..\")"},
        {R"({"path": "50%2f1", "address": "MW0", "type": "INT"})",
         "t:2:11: error: \"50%2f1\" is no path (write \"50%2F1\")"},
    };
    for (const fault& each : faults) {
        SCOPED_TRACE(each.text);
        EXPECT_THAT(lines_of(load_text(with_tags(each.text), "t", "")), ElementsAre(each.line));
    }
}

TEST(config_load, addresses_and_types_are_the_protocols_own) {
    const auto lines =
        lines_of(load_text(with_tags(R"({"path": "x", "address": "DB1.DBQ0", "type": "INT"},
            {"path": "y", "address": "MW0", "type": "INTT"},
            {"path": "z", "address": "MW0", "type": "BOOL"})"),
                           "t", ""));
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines[0], testing::StartsWith("t:2:3"));
    EXPECT_THAT(lines[1], testing::StartsWith("t:3:"));
    EXPECT_THAT(lines[2], testing::StartsWith("t:4:"));
}

TEST(config_load, limits_on_tags_are_kept) {
    const auto result = load_text(
        R"({"limits": {"tags": 1, "tags_per_connection": 1},
            "connections": [{"name": "a", "host": "h", "tags": [
            {"path": "x", "address": "MW0", "type": "INT"},
            {"path": "y", "address": "MW0", "type": "INT"}]}]})",
        "t", "");
    EXPECT_THAT(lines_of(result),
                ElementsAre("tagferry: error: 2 tags in all (limits.tags is 1)",
                            "t:2:29: error: \"a\" has 2 tags (limits.tags_per_connection is 1)"));
}

TEST(config_load, limits_that_contradict_each_other_are_said) {
    const auto result = load_text(
        R"({"opcua": {"listen": ["127.0.0.1:1"],
                      "limits": {"chunk_size": 131072, "max_request_size": 65536}},
            "web": {"listen": ["127.0.0.1:2"],
                    "limits": {"head_size": 2048, "output_slots": 8, "list_limit_max": 10,
                               "connection_output_slots": 16, "output_high_water_slots": 16}}})",
        "t", "");
    EXPECT_THAT(
        lines_of(result),
        testing::UnorderedElementsAre(
            testing::HasSubstr("chunk_size is above max_request_size"),
            testing::HasSubstr("target_size is not below head_size"),
            testing::HasSubstr("output_high_water_slots is not below connection_output_slots"),
            testing::HasSubstr("connection_output_slots is above output_slots"),
            testing::HasSubstr("list_limit_default is above list_limit_max")));
}

TEST(config_load, precedence_is_flag_environment_file_default) {
    load_options options;
    options.environment = {{"TAGFERRY_OPCUA__LISTEN", "127.0.0.1:1,[::1]:2"},
                           {"TAGFERRY_SHARDS", "3"},
                           {"TAGFERRY_OPCUA__ALLOW_NONE_POLICY", "true"},
                           {"TAGFERRY_LOG__FORMAT", "json"}};
    options.flags = {{"shards", "4"}};
    const auto result =
        load_text(R"({"shards": 2, "web": {"listen": ["127.0.0.1:5"]}})", "t", "", options);
    EXPECT_THAT(lines_of(result), ElementsAre());
    EXPECT_EQ(result.value.shards, 4u);
    ASSERT_EQ(result.value.opcua.listen.size(), 2u);
    EXPECT_EQ(result.value.opcua.listen[1].port, 2);
    EXPECT_EQ(result.value.web.listen[0].port, 5);
    EXPECT_EQ(result.value.log.format, log_format::json);
    EXPECT_EQ(result.value.log.level, log_level::info);
}

TEST(config_load, faults_of_environment_and_flags_name_them) {
    load_options options;
    options.environment = {{"TAGFERRY_PORT", "tcp://192.0.2.1"}, {"TAGFERRY_SHARDS", "many"}};
    options.flags = {{"opcua.lisen", "x"}, {"web", "x"}, {"shards.x", "1"}};
    EXPECT_THAT(
        lines_of(load_text("{}", "t", "", options)),
        ElementsAre(HasSubstr("environment TAGFERRY_PORT: warning: ignored: no field \"port\""),
                    "environment TAGFERRY_SHARDS: error: \"many\" is no value for \"shards\" "
                    "(write a whole number)",
                    "flag opcua.lisen: error: no field \"lisen\" (did you mean \"listen\"?)",
                    "flag web: error: \"web\" cannot be set here (it holds further fields)",
                    "flag shards.x: error: \"shards\" has no fields that can be set here"));
}

TEST(config_load, a_file_that_cannot_be_read_says_why) {
    const folder here;
    EXPECT_THAT(
        lines_of(load({.file = here.path() + "/none.json", .flags = {}, .environment = {}})),
        ElementsAre(here.path() + "/none.json: error: cannot be read: No such file or "
                                  "directory (name it with -c FILE)"));
    EXPECT_THAT(lines_of(load({.file = here.path(), .flags = {}, .environment = {}})),
                ElementsAre(HasSubstr("it is a folder")));
}

TEST(config_load, side_files_are_found_beside_the_file) {
    const folder here;
    here.write("a.csv", "path;address;type;writable\nx;MW0;INT;TRUE\n");
    here.write("b.json", R"([{"path": "y", "address": "MW2", "type": "INT"}])");
    const std::string file = here.write("t.json", R"({"connections": [{"name": "a", "host": "h",
            "tag_files": ["a.csv", "b.json", "c.csv"]}]})");
    const auto result = load({.file = file, .flags = {}, .environment = {}});
    EXPECT_THAT(lines_of(result),
                ElementsAre(file +
                            ":2:26: error: \"c.csv\" cannot be read: No such file or "
                            "directory (looked for " +
                            here.path() + "/c.csv)"));
    ASSERT_EQ(result.value.connections[0].tags.size(), 2u);
    EXPECT_TRUE(result.value.connections[0].tags[0].writable);
    EXPECT_EQ(result.value.connections[0].tags[1].path, "y");
}

TEST(config_load, the_findings_kept_are_bounded) {
    std::string text = "{\"connections\": [";
    for (int index = 0; index < 2'000; ++index) {
        text += "7,";
    }
    text += "7]}";
    const auto result = load_text(text, "t", "");
    EXPECT_EQ(result.found.findings().size(), diagnostics::max_kept);
    EXPECT_EQ(result.found.error_count(), 2'001u);
}

}  // namespace
}  // namespace tagferry::gateway::config
