// Faults of a simulated PLC as the command line and a PLC file say them.
#include "gateway/simulation/fault_text.hpp"

#include "gateway/simulation/plc_file.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;

std::string error_of(const std::string& text) {
    std::string error;
    static_cast<void>(parse_fault_text(text, error));
    return error;
}

TEST(fault_text, every_fault_of_the_catalogue_is_known_and_explained) {
    const std::string help = fault_help();
    for (const auto& each : s7::fault_catalogue()) {
        std::string error;
        const auto read = parse_fault_text(each.name, error);
        EXPECT_EQ(error, "") << each.name;
        EXPECT_EQ(read.kind, each.usual.kind);
        EXPECT_EQ(read.every, each.usual.every);
        EXPECT_NE(help.find("  " + std::string(each.name) + ": "), std::string::npos);
    }
}

TEST(fault_text, settings_stand_over_what_is_usual) {
    std::string error;
    const auto read = parse_fault_text(
        "item_error:start=5s,length=2s,period=20s,every=7,code=0x0A,block=3,delay=15ms", error);
    EXPECT_EQ(error, "");
    EXPECT_EQ(read.start, 5s);
    EXPECT_EQ(read.length, 2s);
    EXPECT_EQ(read.period, 20s);
    EXPECT_EQ(read.every, 7U);
    EXPECT_EQ(read.code, 0x0A);
    EXPECT_EQ(read.block, 3);
    EXPECT_EQ(read.delay, 15ms);
    EXPECT_EQ(parse_fault_text("silence:start=0,period=0,length=0", error).start, 0s);
    EXPECT_EQ(error, "");
}

TEST(fault_text, what_is_wrong_is_said_with_a_hint) {
    EXPECT_EQ(error_of("silense"), "there is no fault \"silense\" (did you mean \"silence\"?)");
    EXPECT_EQ(error_of("earthquake"), "there is no fault \"earthquake\" (--help lists them)");
    EXPECT_EQ(error_of("reset:evry=3"),
              "a fault has no setting \"evry\" (did you mean \"every\"?)");
    EXPECT_EQ(error_of("reset:every=0"), "every=0: expected a whole number");
    EXPECT_EQ(error_of("reset:every"), "every=: expected a whole number");
    EXPECT_EQ(error_of("reset:every=0x"), "every=0x: expected a whole number");
    EXPECT_EQ(error_of("silence:start=5"), "start=5: expected 0, or a time such as 500ms or 5s");
    EXPECT_EQ(error_of("silence:length=0"), "a fault with a period needs a length");
    EXPECT_EQ(error_of("silence:length=9s"), "a fault cannot be longer than its period");
    EXPECT_EQ(error_of("item_error:code=255"), "the code of an item is from 0x00 to 0xFE");
    EXPECT_EQ(error_of("job_error:code=0"), "the code of a job is from 0x0001 to 0xFFFF");
}

TEST(plc_file, says_how_the_plc_misbehaves_and_everything_a_profile_leaves_open) {
    config::diagnostics found;
    const auto made = parse_plc_file(R"({
        "profile": "s7-400", "jobs": 5, "tpdu_size": 256, "serial": true, "max_connections": 3,
        "input_bytes": 10, "output_bytes": 20, "memory_bytes": 30,
        "data_blocks": [{ "number": 1, "size": 8 }],
        "signals": [{ "address": "DB1.DBD0", "type": "DINT", "kind": "tagged", "number": 77,
                      "period_ms": 10 }],
        "faults": [{ "fault": "dropped_reply" },
                   { "every": 9, "code": 10, "block": 4, "start_ms": 1000, "length_ms": 20,
                     "period_ms": 300, "delay_ms": 7, "fault": "item_error" }]
    })",
                                     "plc.json", found);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(made.plc.calling_jobs, 5);
    EXPECT_EQ(made.plc.tpdu_size, 256U);
    EXPECT_TRUE(made.plc.serial);
    EXPECT_EQ(made.plc.max_connections, 3U);
    EXPECT_EQ(made.plc.input_bytes, 10U);
    EXPECT_EQ(made.plc.output_bytes, 20U);
    EXPECT_EQ(made.plc.memory_bytes, 30U);
    ASSERT_EQ(made.plc.signals.size(), 1U);
    EXPECT_EQ(made.plc.signals[0].kind, s7::signal_kind::tagged);
    EXPECT_EQ(made.plc.signals[0].number, 77U);
    ASSERT_EQ(made.faults.size(), 2U);
    EXPECT_EQ(made.faults[0].every, s7::find_fault("dropped_reply")->usual.every);
    EXPECT_EQ(made.faults[1].kind, s7::fault_kind::item_error);
    EXPECT_EQ(made.faults[1].every, 9U);
    EXPECT_EQ(made.faults[1].code, 10);
    EXPECT_EQ(made.faults[1].block, 4);
    EXPECT_EQ(made.faults[1].start, 1s);
    EXPECT_EQ(made.faults[1].length, 20ms);
    EXPECT_EQ(made.faults[1].period, 300ms);
    EXPECT_EQ(made.faults[1].delay, 7ms);
}

TEST(plc_file, a_fault_that_is_none_is_a_located_line) {
    const auto first_finding = [](const std::string& faults) {
        config::diagnostics found;
        parse_plc_file("{\"faults\": [" + faults + "]}", "plc.json", found);
        return found.findings().empty() ? "" : found.render(found.findings().front());
    };
    EXPECT_NE(first_finding(R"({"fault": "silense"})").find("silence"), std::string::npos);
    EXPECT_NE(first_finding(R"({"every": 3})").find("needs its name"), std::string::npos);
    EXPECT_NE(first_finding(R"({"fault": "reset", "evry": 3})").find("every"), std::string::npos);
    EXPECT_NE(first_finding(R"({"fault": "silence", "length_ms": 0})").find("needs a length"),
              std::string::npos);
    EXPECT_NE(first_finding(R"("silence")").find("an object"), std::string::npos);
}

}  // namespace
}  // namespace tagferry::gateway
