#include "gateway/log/log.hpp"

#include "gateway/log/event.hpp"
#include "gateway/log/line.hpp"
#include "gateway/log/log_sink.hpp"
#include "transport/time/manual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/ostream_sink.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tagferry::gateway::log {
namespace {

using namespace std::chrono_literals;
using config::log_format;

// 2026-01-31T12:34:56.789Z
constexpr transport::wall_time_ns a_time = 1'769'862'896'789'000'000;

std::string make(log_format format, std::initializer_list<field> fields,
                 std::uint64_t repeats = 0) {
    line made;
    format_line(made, format, event::s7_connect_failed, a_time, {fields.begin(), fields.size()},
                repeats);
    return std::string{made.view()};
}

TEST(log_line, logfmt_quotes_what_needs_it) {
    EXPECT_EQ(make(log_format::logfmt,
                   {{"connection", "press"},
                    {"reason", "timed out"},
                    {"empty", ""},
                    {"odd", "a=\"b\\\n\x01"},
                    {"attempt", 3},
                    {"bytes", std::numeric_limits<std::uint64_t>::max()},
                    {"least", std::numeric_limits<std::int64_t>::min()},
                    {"ratio", 0.25},
                    {"final", true},
                    {"wait_ms", 1500ms}},
                   7),
              "ts=2026-01-31T12:34:56.789Z level=warning event=s7.connect_failed "
              "msg=\"a PLC cannot be reached\" repeats=7 connection=press reason=\"timed out\" "
              "empty=\"\" odd=\"a=\\\"b\\\\\\n\\u0001\" attempt=3 bytes=18446744073709551615 "
              "least=-9223372036854775808 ratio=0.25 final=true wait_ms=1500");
}

TEST(log_line, json_is_json_whatever_the_values) {
    const auto text = make(log_format::json, {{"connection", "größe \xFF\n\"\\\x7F"},
                                              {"not_a_number", std::nan("")},
                                              {"attempt", -3},
                                              {"final", false}});
    const auto read = nlohmann::json::parse(text);
    EXPECT_EQ(read["ts"], "2026-01-31T12:34:56.789Z");
    EXPECT_EQ(read["event"], "s7.connect_failed");
    EXPECT_EQ(read["connection"], "größe \xEF\xBF\xBD\n\"\\\x7F");
    EXPECT_EQ(read["not_a_number"], "NaN");
    EXPECT_EQ(read["attempt"], -3);
    EXPECT_EQ(read["final"], false);
    EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(log_line, secrets_are_never_written) {
    const auto text = make(log_format::logfmt, {field::secret("password")});
    EXPECT_THAT(text, testing::EndsWith(" password=***"));
}

TEST(log_line, long_texts_are_cut_at_a_character) {
    std::string umlauts = "x";
    for (int index = 0; index < 300; ++index) {
        umlauts += "ü";
    }
    const auto read = nlohmann::json::parse(make(log_format::json, {{"a", umlauts}}));
    const auto cut = read["a"].get<std::string>();
    EXPECT_EQ(cut, umlauts.substr(0, 255) + "…");
}

TEST(log_line, what_does_not_fit_is_left_out_and_said) {
    const std::string text(250, 'x');
    for (const auto format : {log_format::logfmt, log_format::json}) {
        const auto made =
            make(format, {{"a", text}, {"b", text}, {"c", text}, {"d", text}, {"e", 1}});
        EXPECT_LE(made.size(), max_line_bytes);
        EXPECT_THAT(made, testing::HasSubstr("truncated"));
        if (format == log_format::json) {
            const auto read = nlohmann::json::parse(made);
            EXPECT_FALSE(read.contains("d"));
            EXPECT_EQ(read["e"], 1);
            EXPECT_EQ(read["truncated"], true);
        }
    }
}

TEST(log_line, times_are_utc_to_the_millisecond) {
    std::array<char, 24> out{};
    EXPECT_EQ(format_time(out, 0), 24u);
    EXPECT_EQ(std::string_view(out.data(), 24), "1970-01-01T00:00:00.000Z");
    format_time(out, 1'709'210'096'999'999'999);  // a leap day
    EXPECT_EQ(std::string_view(out.data(), 24), "2024-02-29T12:34:56.999Z");
    format_time(out, -1);
    EXPECT_EQ(std::string_view(out.data(), 24), "1969-12-31T23:59:59.999Z");
}

// Keeps lines; refuses when told to.
class kept_output final : public line_output {
  public:
    bool offer(std::span<const std::byte> record) noexcept override {
        if (full) {
            return false;
        }
        lines.emplace_back(reinterpret_cast<const char*>(record.data()) + 1, record.size() - 1);
        levels.push_back(static_cast<level>(record[0]));
        return true;
    }
    bool full = false;
    std::vector<std::string> lines;
    std::vector<level> levels;
};

TEST(logger, writes_from_its_level_on_and_counts) {
    kept_output output;
    const transport::manual_clock clock;
    logger log{{.level = level::warning, .format = log_format::logfmt}, output, clock};
    log.write(event::s7_connected, {{"connection", "press"}});
    log.write(event::s7_link_lost, {{"connection", "press"}});
    output.full = true;
    log.write(event::gateway_failed);
    ASSERT_EQ(output.lines.size(), 1u);
    EXPECT_THAT(output.lines[0], testing::HasSubstr("event=s7.link_lost"));
    EXPECT_EQ(output.levels[0], level::warning);
    EXPECT_EQ(log.statistics().lines, (std::array<std::uint64_t, 4>{0, 0, 1, 0}));
    EXPECT_EQ(log.statistics().dropped, 1u);
    EXPECT_FALSE(log.enabled(event::s7_connected));
}

TEST(logger, repeats_are_held_back_by_subject_and_counted) {
    kept_output output;
    transport::manual_clock clock;
    logger log{{}, output, clock};
    for (int index = 0; index < 12; ++index) {
        log.write(event::s7_connect_failed, {{"connection", "press"}});
    }
    log.write(event::s7_connect_failed, {{"connection", "boiler"}});
    EXPECT_EQ(output.lines.size(), 6u);
    EXPECT_EQ(log.statistics().held_back, 7u);
    clock.advance(10s);
    log.write(event::s7_connect_failed, {{"connection", "press"}});
    log.write(event::s7_connect_failed, {{"connection", "press"}});
    ASSERT_EQ(output.lines.size(), 8u);
    EXPECT_THAT(output.lines[6], testing::HasSubstr("repeats=7 "));
    EXPECT_THAT(output.lines[7], testing::Not(testing::HasSubstr("repeats=")));
}

// Who wrote what is a record: ten writes of one tag in a second are ten lines.
TEST(logger, every_write_is_told_and_lost_ones_are_counted) {
    kept_output output;
    const transport::manual_clock clock;
    logger log{{}, output, clock};
    constexpr std::array writes = {event::write_accepted, event::write_refused,
                                   event::write_outcome_unknown};
    for (int index = 0; index < 12; ++index) {
        for (const event each : writes) {
            log.write(each, {{"tag", "press/speed"}, {"value", "5"}});
        }
    }
    EXPECT_EQ(output.lines.size(), 36u);
    EXPECT_EQ(log.statistics().held_back, 0u);
    output.full = true;
    log.write(event::write_accepted, {{"tag", "press/speed"}});
    log.write(event::s7_link_lost, {{"connection", "press"}});
    EXPECT_EQ(log.statistics().dropped, 2u);
    EXPECT_EQ(log.statistics().dropped_writes, 1u);
}

TEST(repeat_limit, threads_share_the_budget) {
    repeat_limit limit;
    std::atomic<int> written{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int index = 0; index < 1'000; ++index) {
                written += limit.judge(7, transport::time_point{1h}).write ? 1 : 0;
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(written, static_cast<int>(repeat_limit::lines_per_window));
    EXPECT_EQ(limit.judge(7, transport::time_point{1h + repeat_limit::window}).not_written,
              4'000u - repeat_limit::lines_per_window);
}

TEST(log_sink, writes_lines_as_they_are_and_tells_drops) {
    std::ostringstream stream;
    const transport::manual_clock clock{1h, a_time};
    log_sink sink{log_format::logfmt, clock,
                  std::make_shared<spdlog::sinks::ostream_sink_st>(stream)};
    const std::string record = std::string{'\x02'} + "level=warning msg=\"{} %v\"";
    sink.write(log_record, std::as_bytes(std::span{record}));
    sink.write(log_record, {});
    sink.dropped(log_record, 42);
    sink.flush();
    EXPECT_EQ(stream.str(),
              "level=warning msg=\"{} %v\"\n"
              "ts=2026-01-31T12:34:56.789Z level=warning event=log.dropped msg=\"log lines were "
              "dropped\" lines=42\n");
}

TEST(log_events, ids_are_unique_and_well_formed) {
    std::set<std::string_view> ids;
    for (const event_description& row : all_events()) {
        EXPECT_TRUE(ids.insert(row.id).second) << row.id;
        EXPECT_THAT(std::string{row.id}, testing::MatchesRegex("[a-z0-9]+\\.[a-z0-9_]+"));
        EXPECT_FALSE(row.words.empty()) << row.id;
        // Whoever is told that something is wrong is told what to do.
        const bool needs_remedy =
            row.importance >= level::warning && row.code != event::s7_plc_stopped;
        EXPECT_TRUE(!needs_remedy || !row.remedy.empty()) << row.id;
    }
}

// Run with TAGFERRY_REGENERATE=1 after a change of the catalogue.
TEST(log_events, the_committed_page_is_the_catalogues) {
    const char* const file = "gateway/log/EVENTS.md";
    if (std::getenv("TAGFERRY_REGENERATE") != nullptr) {
        std::ofstream{file, std::ios::binary} << events_page();
    }
    std::ifstream stream{file, std::ios::binary};
    ASSERT_TRUE(stream) << file << " (tests run in the repository's root)";
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>{stream}, {}}), events_page());
}

}  // namespace
}  // namespace tagferry::gateway::log
