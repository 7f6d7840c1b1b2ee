#include "gateway/log/log.hpp"

#include <algorithm>

namespace tagferry::gateway::log {

namespace {

// FNV-1a over the event and its subject.
std::uint64_t subject_of(event code, std::span<const field> fields) noexcept {
    constexpr std::uint64_t prime = 1'099'511'628'211ULL;
    std::uint64_t hash = 14'695'981'039'346'656'037ULL;
    hash = (hash ^ static_cast<std::uint64_t>(code)) * prime;
    const auto subject = std::find_if(fields.begin(), fields.end(), [](const field& each) {
        return each.type() == field::kind::text;
    });
    if (subject != fields.end()) {
        for (const char byte : subject->text()) {
            hash = (hash ^ static_cast<unsigned char>(byte)) * prime;
        }
    }
    return hash;
}

}  // namespace

logger::logger(const config::log_section& options, line_output& output,
               const transport::clock& clock) noexcept
    : level_(options.level), format_(options.format), output_(output), clock_(clock) {}

void logger::write(event code, std::initializer_list<field> fields) noexcept {
    if (!enabled(code)) {
        return;
    }
    const std::span<const field> all{fields.begin(), fields.size()};
    const event_description& about = describe(code);
    const auto verdict = about.every_one ? repeat_limit::verdict{.write = true}
                                         : repeats_.judge(subject_of(code, all), clock_.now());
    if (!verdict.write) {
        held_back_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    line made;
    format_line(made, format_, code, clock_.wall_now(), all, verdict.not_written);
    std::array<std::byte, max_line_bytes + 1> record;
    const level importance = about.importance;
    record[0] = static_cast<std::byte>(importance);
    std::transform(made.bytes.begin(), made.bytes.begin() + static_cast<std::ptrdiff_t>(made.size),
                   record.begin() + 1, [](char byte) { return static_cast<std::byte>(byte); });
    if (output_.offer({record.data(), made.size + 1})) {
        lines_[static_cast<std::size_t>(importance)].fetch_add(1, std::memory_order_relaxed);
    } else {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        dropped_writes_.fetch_add(about.every_one ? 1 : 0, std::memory_order_relaxed);
    }
}

log_statistics logger::statistics() const noexcept {
    log_statistics now;
    for (std::size_t index = 0; index < now.lines.size(); ++index) {
        now.lines[index] = lines_[index].load(std::memory_order_relaxed);
    }
    now.held_back = held_back_.load(std::memory_order_relaxed);
    now.dropped = dropped_.load(std::memory_order_relaxed);
    now.dropped_writes = dropped_writes_.load(std::memory_order_relaxed);
    return now;
}

}  // namespace tagferry::gateway::log
