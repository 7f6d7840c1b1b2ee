#include "gateway/health/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tagferry::gateway {

namespace {

constexpr std::size_t max_status_bytes = 256;

// One datagram to the socket of that name; '@' stands for the zero byte of an abstract one.
bool send_to(const char* name, std::string_view message) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(name);
    if (length < 2 || length >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) {
        return false;
    }
    std::memcpy(address.sun_path, name, length);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) {
        return false;
    }
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    const void* const to = &address;
    const ssize_t sent = ::sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
                                  static_cast<const sockaddr*>(to), size);
    ::close(socket);
    return sent == static_cast<ssize_t>(message.size());
}

// `prefix` and one line of `text`, cut to a fixed size: a line end would begin another assignment.
bool send(std::string_view prefix, std::string_view text) noexcept {
    const char* const name = std::getenv("NOTIFY_SOCKET");
    if (name == nullptr) {
        return true;
    }
    std::array<char, 64 + max_status_bytes> message{};
    const std::size_t line = std::min({text.find('\n'), text.size(), max_status_bytes});
    prefix.copy(message.data(), prefix.size());
    text.copy(message.data() + prefix.size(), line);
    return send_to(name, {message.data(), prefix.size() + line});
}

// A whole decimal number in the environment.
std::optional<std::uint64_t> number(const char* name) noexcept {
    const char* const text = std::getenv(name);
    if (text == nullptr) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    const char* const end = text + std::strlen(text);
    const auto [at, error] = std::from_chars(text, end, value);
    return error == std::errc{} && at == end ? std::optional(value) : std::nullopt;
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
    const auto limit_us = number("WATCHDOG_USEC");
    const auto whose = number("WATCHDOG_PID");
    if (limit_us.value_or(0) == 0 ||
        whose.value_or(static_cast<std::uint64_t>(::getpid())) !=
            static_cast<std::uint64_t>(::getpid())) {
        return std::nullopt;
    }
    return std::chrono::microseconds{*limit_us / 2};
}

bool service_manager::alive() noexcept {
    return send("WATCHDOG=1", {});
}

}  // namespace tagferry::gateway
