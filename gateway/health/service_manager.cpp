#include "gateway/health/service_manager.hpp"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace tagferry::gateway {

namespace {

constexpr std::size_t max_status_bytes = 256;

// `prefix` and one line of `text`, cut to a fixed size: a line end would begin another assignment.
bool send(std::string_view prefix, std::string_view text) noexcept {
    std::array<char, 64 + max_status_bytes> message{};
    const std::size_t line = std::min({text.find('\n'), text.size(), max_status_bytes});
    prefix.copy(message.data(), prefix.size());
    text.copy(message.data() + prefix.size(), line);
    return sd_notify(0, message.data()) >= 0;
}

}  // namespace

bool service_manager::present() noexcept {
    return std::getenv("NOTIFY_SOCKET") != nullptr;
}

bool service_manager::ready(std::string_view status) noexcept {
    return send("READY=1\nSTATUS=", status);
}

bool service_manager::status(std::string_view status) noexcept {
    return send("STATUS=", status);
}

bool service_manager::stopping() noexcept {
    return send("STOPPING=1", {});
}

std::optional<std::chrono::microseconds> service_manager::alive_interval() noexcept {
    std::uint64_t limit_us = 0;
    if (sd_watchdog_enabled(0, &limit_us) <= 0) {
        return std::nullopt;
    }
    return std::chrono::microseconds{limit_us / 2};
}

bool service_manager::alive() noexcept {
    return send("WATCHDOG=1", {});
}

}  // namespace tagferry::gateway
