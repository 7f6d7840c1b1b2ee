#include "gateway/log/log_sink.hpp"

#include "gateway/log/event.hpp"
#include "gateway/log/line.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <string_view>
#include <utility>

namespace tagferry::gateway::log {

struct log_sink::writer {
    explicit writer(std::shared_ptr<spdlog::sinks::sink> target)
        : logger("tagferry", std::move(target)) {
        // The line is complete when it gets here: spdlog adds its end and nothing else.
        logger.set_pattern("%v");
        logger.set_level(spdlog::level::trace);
        // Standard error is where faults of logging would be told; when it fails itself there is
        // nowhere left to tell.
        logger.set_error_handler([](const std::string&) {});
    }
    spdlog::logger logger;
};

namespace {

spdlog::level::level_enum spdlog_level(level importance) noexcept {
    constexpr std::array levels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                   spdlog::level::err};
    const auto index = static_cast<std::size_t>(importance);
    return index < levels.size() ? levels[index] : spdlog::level::err;
}

}  // namespace

log_sink::log_sink(config::log_format format, const transport::clock& clock,
                   std::shared_ptr<spdlog::sinks::sink> target)
    : format_(format), clock_(clock), writer_(std::make_unique<writer>(std::move(target))) {}

log_sink::~log_sink() = default;

void log_sink::write(transport::record_kind, std::span<const std::byte> record) {
    if (record.empty()) {
        return;
    }
    const std::string_view text{reinterpret_cast<const char*>(record.data()) + 1,
                                record.size() - 1};
    writer_->logger.log(spdlog_level(static_cast<level>(record[0])), text);
}

void log_sink::flush() {
    writer_->logger.flush();
}

void log_sink::dropped(transport::record_kind, std::uint64_t records) {
    line made;
    const field count{"lines", records};
    format_line(made, format_, event::log_dropped, clock_.wall_now(), {&count, 1}, 0);
    writer_->logger.log(spdlog::level::warn, made.view());
}

std::shared_ptr<spdlog::sinks::sink> standard_error() {
    return std::make_shared<spdlog::sinks::stderr_sink_st>();
}

}  // namespace tagferry::gateway::log
