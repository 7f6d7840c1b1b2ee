// One log line in a fixed buffer. Makes no allocation, so that a shard may log.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/log/event.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::gateway::log {

/// A name and a typed value. Views only: they must live until the line is made.
class field {
  public:
    enum class kind : std::uint8_t { text, signed_number, unsigned_number, real, flag, secret };

    constexpr field(std::string_view name, std::string_view text) noexcept
        : name_(name), kind_(kind::text), text_(text) {}
    constexpr field(std::string_view name, const char* text) noexcept
        : field(name, std::string_view{text}) {}
    constexpr field(std::string_view name, bool value) noexcept
        : name_(name), kind_(kind::flag), number_(value ? 1U : 0U) {}
    template <std::signed_integral Number>
    constexpr field(std::string_view name, Number value) noexcept
        : name_(name),
          kind_(kind::signed_number),
          number_(static_cast<std::uint64_t>(static_cast<std::int64_t>(value))) {}
    template <std::unsigned_integral Number>
    constexpr field(std::string_view name, Number value) noexcept
        : name_(name), kind_(kind::unsigned_number), number_(value) {}
    constexpr field(std::string_view name, double value) noexcept
        : name_(name), kind_(kind::real), real_(value) {}
    /// Milliseconds; the name should end in `_ms`.
    constexpr field(std::string_view name, std::chrono::milliseconds value) noexcept
        : field(name, static_cast<std::int64_t>(value.count())) {}

    /// A value that is never shown: the line says that there is one.
    static constexpr field secret(std::string_view name) noexcept {
        field made{name, std::string_view{}};
        made.kind_ = kind::secret;
        return made;
    }

    constexpr std::string_view name() const noexcept { return name_; }
    constexpr kind type() const noexcept { return kind_; }
    constexpr std::string_view text() const noexcept { return text_; }
    constexpr std::uint64_t number() const noexcept { return number_; }
    constexpr double real() const noexcept { return real_; }

  private:
    std::string_view name_;
    kind kind_;
    std::string_view text_;
    std::uint64_t number_ = 0;
    double real_ = 0;
};

/// Longest line in bytes, without line end. Fields that do not fit are left out and the line ends
/// in `truncated=true`; texts are cut at `max_text_bytes`.
inline constexpr std::size_t max_line_bytes = 1'024;
inline constexpr std::size_t max_text_bytes = 256;

struct line {
    std::array<char, max_line_bytes> bytes;
    std::size_t size = 0;
    std::string_view view() const noexcept { return {bytes.data(), size}; }
};

/// Makes the line of an event. Texts become valid UTF-8; control characters are escaped, so that
/// no value can begin a line of its own.
/// @param repeats how many lines of this event were not written before; 0 leaves it out.
void format_line(line& out, config::log_format format, event code, transport::wall_time_ns now,
                 std::span<const field> fields, std::uint64_t repeats) noexcept;

/// `2026-01-31T12:34:56.789Z` for nanoseconds since 1970. Returns the bytes written, 24.
std::size_t format_time(std::span<char, 24> out, transport::wall_time_ns now) noexcept;

}  // namespace tagferry::gateway::log
