#include "gateway/app/process.hpp"

#include "gateway/app/gateway.hpp"
#include "gateway/health/service_manager.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <ostream>
#include <system_error>

namespace tagferry::gateway {

namespace {

sigset_t awaited_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    return signals;
}

/// Bytes of a ring for so many lines.
std::size_t ring_bytes(std::uint32_t lines) {
    return std::size_t{lines} * log::max_line_bytes;
}

transport::storage_options storage_options_of(const config::process_limits& limits) {
    transport::storage_options options;
    options.droppable_capacity = ring_bytes(limits.log_ring_entries);
    return options;
}

std::chrono::steady_clock::time_point end_of(std::optional<std::chrono::milliseconds> longest) {
    return std::chrono::steady_clock::now() + longest.value_or(std::chrono::hours(24 * 365 * 100));
}

}  // namespace

void end_signals::block() {
    const sigset_t signals = awaited_signals();
    if (const int error = pthread_sigmask(SIG_BLOCK, &signals, nullptr); error != 0) {
        throw std::system_error(error, std::generic_category(), "cannot block signals");
    }
}

end_signals::end_signals() {
    block();
    std::signal(SIGPIPE, SIG_IGN);
}

signal_seen end_signals::wait(std::chrono::milliseconds longest) {
    const sigset_t signals = awaited_signals();
    using std::chrono::steady_clock;
    const auto end = steady_clock::now() + longest;
    for (auto now = steady_clock::now(); now < end; now = steady_clock::now()) {
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - now).count();
        const timespec wait{left / 1'000'000'000, left % 1'000'000'000};
        const int seen = sigtimedwait(&signals, nullptr, &wait);
        if (seen > 0) {
            return seen == SIGHUP ? signal_seen::reload : signal_seen::end;
        }
    }
    return signal_seen::none;
}

void wait_for_end(end_signals& signals, std::optional<std::chrono::milliseconds> longest) {
    using std::chrono::milliseconds;
    using std::chrono::steady_clock;
    const auto end = end_of(longest);
    for (auto now = steady_clock::now(); now < end; now = steady_clock::now()) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - now) + milliseconds(1);
        if (signals.wait(std::min<milliseconds>(left, std::chrono::hours(24))) ==
            signal_seen::end) {
            return;
        }
    }
}

void serve_until_end(end_signals& signals, gateway& served,
                     std::optional<std::chrono::milliseconds> longest,
                     const std::function<void(gateway&)>& reload) {
    using std::chrono::milliseconds;
    using std::chrono::steady_clock;
    milliseconds interval = std::chrono::seconds(10);
    if (const auto watchdog = service_manager::alive_interval()) {
        interval = std::min(interval, std::chrono::duration_cast<milliseconds>(*watchdog));
    }
    const auto end = end_of(longest);
    service_manager::ready(served.status().view());
    for (auto now = steady_clock::now(); now < end; now = steady_clock::now()) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - now);
        const signal_seen seen = signals.wait(std::min(interval, left + milliseconds(1)));
        if (seen == signal_seen::end) {
            break;
        }
        if (seen == signal_seen::reload && reload) {
            reload(served);
        }
        served.see_every_shard_turn();
        service_manager::status(served.status().view());
        service_manager::alive();
    }
    service_manager::stopping();
}

process_log::process_log(const config::log_section& settings, const config::process_limits& limits,
                         const transport::clock& clock)
    : storage_(storage_options_of(limits)),
      sink_(settings.format, clock, log::standard_error()),
      output_(storage_),
      logger_(settings, output_, clock) {
    storage_.set_sink(log::log_record, sink_);
    storage_.start();
}

void print_serving_line(std::ostream& out, const serving_line& line) {
    nlohmann::ordered_json made;
    if (!line.opcua.empty()) {
        made["opcua"] = line.opcua.front();
    }
    if (!line.http.empty()) {
        made["http"] = line.http.front();
    }
    if (!line.s7.empty()) {
        made["s7"] = line.s7;
    }
    made["pid"] = getpid();
    if (!line.token.empty()) {
        made["token"] = line.token;
    }
    out << made.dump() << std::endl;
}

std::optional<std::chrono::milliseconds> parse_duration(const std::string& text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (error != std::errc{} || number == 0) {
        return std::nullopt;
    }
    const std::int64_t count = number;
    if (unit == "ms") {
        return std::chrono::milliseconds(count);
    }
    if (unit == "s") {
        return std::chrono::seconds(count);
    }
    if (unit == "m") {
        return std::chrono::minutes(count);
    }
    if (unit == "h") {
        return std::chrono::hours(count);
    }
    return std::nullopt;
}

}  // namespace tagferry::gateway
