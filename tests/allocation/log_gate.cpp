// A log call allocates nothing, nor does the storage thread that writes the line: 10,000 of each
// form, counted over all threads of the process.

#include "gateway/log/log.hpp"
#include "gateway/log/log_sink.hpp"
#include "tests/allocation/allocation_gate.hpp"
#include "transport/threads/storage_thread.hpp"
#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <chrono>
#include <memory>

namespace tagferry::allocation {
namespace {

using namespace gateway;

// Time moves past the repeat window, so that every line is written.
void log_lines(log::logger& log, transport::manual_clock& clock, std::uint64_t lines) {
    for (std::uint64_t index = 0; index < lines; ++index) {
        clock.advance(log::repeat_limit::window);
        log.write(log::event::s7_connect_failed, {{"connection", "press"},
                                                  {"reason", "größe \"x\"\n"},
                                                  {"attempt", index},
                                                  {"wait_ms", std::chrono::milliseconds{500}},
                                                  {"ratio", 0.1},
                                                  {"final", false}});
        log.write(log::event::s7_connecting, {{"connection", "press"}});
    }
}

TEST(log_gate, a_log_call_allocates_nothing) {
    ASSERT_TRUE(transport::allocation_counting_enabled());
    const outer_counter outer;
    for (const auto format : {config::log_format::logfmt, config::log_format::json}) {
        transport::manual_clock clock;
        log::log_sink sink{format, clock, std::make_shared<spdlog::sinks::null_sink_st>()};
        transport::storage_thread storage{{.droppable_capacity = std::size_t{1} << 24}};
        storage.set_sink(log::log_record, sink);
        storage.start();
        log::storage_output output{storage};
        log::logger log{{.level = config::log_level::info, .format = format}, output, clock};
        log_lines(log, clock, 1'000);
        storage.flush();
        const window measured{outer};
        log_lines(log, clock, 10'000);
        storage.flush();
        const auto result = measured.close();
        EXPECT_EQ(result.allocations, 0u);
        EXPECT_TRUE(result.outer_agrees);
        const auto lines = log.statistics();
        EXPECT_EQ(lines.lines[static_cast<std::size_t>(config::log_level::warning)] + lines.dropped,
                  11'000u);
        storage.stop();
    }
}

}  // namespace
}  // namespace tagferry::allocation
