#include "gateway/cli/exit_code.hpp"
#include "gateway/cli/run_command_line.hpp"
#include "gateway/model/version.hpp"
#include "protocols/s7/simulator/fault_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct outcome {
    int code;
    std::string out;
    std::string err;
};

outcome run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "tagferry");
    std::ostringstream out;
    std::ostringstream err;
    const int code =
        run_command_line(static_cast<int>(arguments.size()), arguments.data(), out, err);
    return {code, out.str(), err.str()};
}

class a_file {
  public:
    explicit a_file(std::string_view text) {
        std::string name = (std::filesystem::temp_directory_path() / "tagferry_XXXXXX").string();
        folder_ = mkdtemp(name.data());
        path_ = (folder_ / "t.json").string();
        std::ofstream{path_, std::ios::binary} << text;
    }
    ~a_file() { std::filesystem::remove_all(folder_); }
    a_file(const a_file&) = delete;
    a_file& operator=(const a_file&) = delete;
    const char* path() const { return path_.c_str(); }

  private:
    std::filesystem::path folder_;
    std::string path_;
};

TEST(cli, version_as_text_and_json) {
    EXPECT_EQ(run({"version"}).out, "tagferry " + std::string{version()} + "\n");
    const auto made = nlohmann::json::parse(run({"version", "--json"}).out);
    EXPECT_EQ(made["version"], std::string{version()});
    EXPECT_THAT(std::string{version()}, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(cli, a_valid_configuration_is_counted) {
    const a_file file{R"({"opcua": {"allow_none_policy": true},
        "connections": [{"name": "a", "host": "h", "tags": [
        {"path": "x", "address": "MW0", "type": "INT"}]}]})"};
    const auto result = run({"check", "-c", file.path()});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.out,
              std::string{file.path()} + ": valid, 0 errors, 0 warnings, 1 connection, 1 tag\n");
    EXPECT_EQ(result.err, "");
}

TEST(cli, an_invalid_configuration_is_78_and_ends_with_a_count) {
    const a_file file{"{\"shards\": 0,\n\"webb\": 1}"};
    const auto result = run({"check", "-c", file.path()});
    const std::string name = file.path();
    EXPECT_EQ(result.code, 78);
    EXPECT_EQ(result.out, name + ":1:12: error: \"shards\" is out of range: 0 (1 to 16)\n" + name +
                              ":2:1: error: unknown key \"webb\" (did you mean \"web\"?)\n" + name +
                              ": invalid, 2 errors, 0 warnings\n");
}

TEST(cli, findings_as_json) {
    const a_file file{"{\"shards\": 0}"};
    const auto result = run({"check", "-c", file.path(), "--json"});
    EXPECT_EQ(result.code, 78);
    const auto made = nlohmann::json::parse(result.out);
    EXPECT_EQ(made["valid"], false);
    EXPECT_EQ(made["errors"], 1);
    EXPECT_EQ(made["findings"][0]["line"], 1);
    EXPECT_EQ(made["findings"][0]["column"], 12);
    EXPECT_EQ(made["findings"][0]["hint"], "1 to 16");
}

TEST(cli, a_missing_file_is_78) {
    const auto result = run({"check", "-c", "/nonexistent/t.json"});
    EXPECT_EQ(result.code, 78);
    EXPECT_THAT(result.out, StartsWith("/nonexistent/t.json: error: cannot be read: No such file"));
}

TEST(cli, flags_stand_over_the_file) {
    const a_file file{"{\"shards\": 2}"};
    EXPECT_EQ(run({"check", "-c", file.path(), "--set", "shards=99"}).code, 78);
    const auto fault = run({"check", "-c", file.path(), "--set", "shard=3", "--log-format", "xml"});
    EXPECT_EQ(fault.code, 78);
    EXPECT_THAT(fault.out, HasSubstr("flag shard: error: no field \"shard\" (did you mean "
                                     "\"shards\"?)"));
    EXPECT_THAT(fault.out, HasSubstr("flag log.format: error: \"xml\" is no \"format\" (one of "
                                     "logfmt, json)"));
    EXPECT_EQ(run({"check", "-c", file.path(), "--log-format", "json"}).code, 0);
}

TEST(cli, strict_makes_warnings_count) {
    const a_file file{R"({"opcua": {"allow_none_policy": true}})"};
    ASSERT_EQ(setenv("TAGFERRY_ODD", "1", 1), 0);
    const auto plain = run({"check", "-c", file.path()});
    const auto strict = run({"check", "-c", file.path(), "--strict"});
    unsetenv("TAGFERRY_ODD");
    EXPECT_EQ(plain.code, 0);
    EXPECT_THAT(plain.out, StartsWith("environment TAGFERRY_ODD: warning: ignored: no field "));
    EXPECT_EQ(strict.code, 78);
}

TEST(cli, the_schema_is_json) {
    const auto result = run({"config", "schema"});
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(nlohmann::json::parse(result.out).contains("$defs"));
    EXPECT_THAT(run({"config", "reference"}).out, StartsWith("# Configuration reference"));
}

TEST(cli, usage_errors_are_64_with_a_hint) {
    const auto command = run({"chekc"});
    EXPECT_EQ(command.code, 64);
    EXPECT_EQ(command.err,
              "tagferry: unknown command \"chekc\" (did you mean \"check\"?)\n"
              "Try: tagferry --help\n");
    EXPECT_EQ(command.out, "");
    const auto flag = run({"check", "--jsn"});
    EXPECT_EQ(flag.code, 64);
    EXPECT_EQ(flag.err,
              "tagferry: unknown flag \"--jsn\" (did you mean \"--json\"?)\n"
              "Try: tagferry check --help\n");
    const auto inner = run({"config", "shema"});
    EXPECT_EQ(inner.code, 64);
    EXPECT_THAT(inner.err, HasSubstr("did you mean \"schema\"?"));
    EXPECT_EQ(run({}).code, 64);
    EXPECT_EQ(run({"check", "-c"}).code, 64);
}

TEST(cli, a_wrong_port_says_what_a_port_is) {
    for (const char* const text : {"99999", "-1", "http", ""}) {
        const auto result = run({"sim", "--port", text});
        EXPECT_EQ(result.code, 64) << text;
        EXPECT_THAT(result.err, HasSubstr("is no port; write 1 to 65535, or 0 for any")) << text;
    }
    EXPECT_THAT(run({"demo", "--s7-port", "65536"}).err, HasSubstr("--s7-port: \"65536\" is no"));
    EXPECT_THAT(run({"run", "--http-port", "x"}).err, HasSubstr("--http-port: \"x\" is no port"));
}

TEST(cli, a_plc_file_that_cannot_be_read_says_why_and_what_it_is_for) {
    const auto missing = run({"sim", "--plc", "/nonexistent/plc.json"});
    EXPECT_EQ(missing.code, 78);
    EXPECT_THAT(missing.err,
                HasSubstr("cannot read the PLC file \"/nonexistent/plc.json\": No such "
                          "file or directory"));
    EXPECT_THAT(missing.err, HasSubstr("without --plc the press of the demo is simulated"));
    EXPECT_THAT(run({"sim", "--plc", "/"}).err, HasSubstr("Is a directory"));
    const a_file wrong{"{\"profile\": \"s7-3000\"}"};
    EXPECT_THAT(run({"sim", "--plc", wrong.path()}).err, HasSubstr("s7-300"));
}

TEST(cli, wrong_settings_of_a_simulated_plc_are_said_before_it_runs) {
    EXPECT_THAT(run({"sim", "--fault", "silense"}).err, HasSubstr("did you mean \"silence\"?"));
    EXPECT_THAT(run({"sim", "--fault", "reset:every=0"}).err, HasSubstr("every=0"));
    EXPECT_THAT(run({"sim", "--profile", "s7-150"}).err, HasSubstr("s7-1500"));
    EXPECT_THAT(run({"sim", "--latency", "4"}).err, HasSubstr("write 0, 4ms or 1s"));
    EXPECT_EQ(run({"sim", "--pdu-size", "100"}).code, 64);
    EXPECT_EQ(run({"sim", "--tpdu-size", "100"}).code, 64);
    EXPECT_EQ(run({"sim", "--jobs", "65"}).code, 64);
}

TEST(cli, a_simulated_plc_runs_with_everything_set_and_tells_its_counters) {
    const auto result = run({"sim",     "--port",      "0",       "--profile",
                             "s7-400",  "--pdu-size",  "300",     "--jobs",
                             "3",       "--tpdu-size", "256",     "--latency",
                             "3ms",     "--serial",    "--fault", "dropped_reply:every=5",
                             "--fault", "stop",        "--json",  "--duration",
                             "30ms"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("{\"s7\":[\"127.0.0.1:"));
    EXPECT_THAT(result.out, HasSubstr("\"jobs\":0,"));
    EXPECT_THAT(run({"sim", "--port", "0", "--duration", "30ms"}).out,
                HasSubstr("0 jobs (0 reads, 0 writes) on 0 connections"));
}

TEST(cli, sim_lists_every_fault) {
    const auto result = run({"sim", "--faults"});
    for (const auto& each : s7::fault_catalogue()) {
        EXPECT_THAT(result.out, HasSubstr("  " + std::string(each.name) + ": "));
    }
}

// A screen is 80 columns and 40 lines; every command shows two examples.
TEST(cli, help_fits_a_screen_and_shows_two_examples) {
    const std::vector<std::vector<const char*>> commands = {
        {"check"}, {"config"}, {"config", "schema"}, {"config", "reference"}, {"version"}};
    for (auto arguments : commands) {
        SCOPED_TRACE(arguments.back());
        arguments.push_back("--help");
        const auto result = run(arguments);
        EXPECT_EQ(result.code, 0);
        EXPECT_EQ(result.err, "");
        EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 40);
        std::istringstream lines{result.out};
        int examples = 0;
        for (std::string line; std::getline(lines, line);) {
            examples += line.starts_with("  tagferry ") ? 1 : 0;
            EXPECT_LE(line.size(), 80u) << line;
        }
        EXPECT_EQ(examples, 2);
    }
    const auto root = run({"--help"});
    EXPECT_EQ(root.code, 0);
    EXPECT_LE(std::count(root.out.begin(), root.out.end(), '\n'), 40);
    for (const auto& each : all_exit_codes()) {
        EXPECT_THAT(root.out, HasSubstr(std::to_string(static_cast<int>(each.code)) + "  " +
                                        std::string{each.words}));
    }
}

}  // namespace
}  // namespace tagferry::gateway::cli
