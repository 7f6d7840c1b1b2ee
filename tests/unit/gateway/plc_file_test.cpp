#include "gateway/simulation/plc_file.hpp"

#include "gateway/simulation/demo_plant.hpp"
#include "protocols/s7/simulator/plc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tagferry::gateway {
namespace {

std::vector<std::string> findings_of(const std::string& text) {
    config::diagnostics found;
    parse_plc_file(text, "plc.json", found);
    std::vector<std::string> lines;
    for (const auto& each : found.findings()) {
        lines.push_back(found.render(each));
    }
    return lines;
}

TEST(plc_file, says_what_a_plc_holds) {
    config::diagnostics found;
    const auto [made, faults] = parse_plc_file(R"({
        "profile": "s7-300", "latency_ms": 4, // slow
        "data_blocks": [{ "number": 7, "size": 64 }],
        "signals": [{ "address": "DB7.DBD4", "type": "REAL", "kind": "ramp", "minimum": -1,
                      "maximum": 2.5, "period_ms": 300 }]
    })",
                                               "plc.json", found);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(made.profile, "s7-300");
    EXPECT_EQ(made.latency, std::chrono::milliseconds(4));
    ASSERT_EQ(made.data_blocks.size(), 1U);
    EXPECT_EQ(made.data_blocks[0].number, 7);
    ASSERT_EQ(made.signals.size(), 1U);
    EXPECT_EQ(made.signals[0].where.byte, 4U);
    EXPECT_EQ(made.signals[0].kind, s7::signal_kind::ramp);
    EXPECT_EQ(made.signals[0].minimum, -1);
    EXPECT_EQ(made.signals[0].maximum, 2.5);
    EXPECT_EQ(made.signals[0].period, std::chrono::milliseconds(300));
}

TEST(plc_file, every_fault_is_a_located_line) {
    const auto lines = findings_of(R"({
  "profile": "s7-1501",
  "latenzy_ms": 4,
  "data_blocks": [{ "number": 0 }],
  "signals": [{ "address": "DB1.DBQ4", "type": "REAL", "kind": "sinus" }, { "type": "INT" }]
})");
    ASSERT_EQ(lines.size(), 7U);
    EXPECT_TRUE(lines[0].starts_with("plc.json:2:")) << lines[0];
    EXPECT_NE(lines[0].find("s7-1500"), std::string::npos) << lines[0];
    EXPECT_TRUE(lines[1].starts_with("plc.json:3:")) << lines[1];
    EXPECT_NE(lines[1].find("latency_ms"), std::string::npos) << lines[1];
    EXPECT_TRUE(lines[2].starts_with("plc.json:4:")) << lines[2];
    EXPECT_TRUE(lines[4].starts_with("plc.json:5:")) << lines[4];
    EXPECT_NE(lines[5].find("sine"), std::string::npos) << lines[5];
}

TEST(demo_plant, both_plcs_can_be_made_and_hold_every_tag) {
    const transport::real_clock clock;
    std::size_t tags = 0;
    for (std::size_t plc = 0; plc < demo_plc_count; ++plc) {
        const auto held = demo_plc(plc);
        EXPECT_NO_THROW(s7::simulated_plc(held, clock));
        const auto connection = demo_connection(plc, 1102);
        EXPECT_EQ(connection.tags.size(), held.signals.size());
        tags += connection.tags.size();
    }
    EXPECT_GE(tags, 40U);
}

}  // namespace
}  // namespace tagferry::gateway
