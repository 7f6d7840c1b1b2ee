// JSON straight into the output: no tree, no allocation. Every function appends one JSON value
// (RFC 8259); in a shortage of slots the output remembers that, and its writer goes back.
#pragma once

#include "transport/time/clock.hpp"
#include "web/http/output_chain.hpp"

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

/// A string. What is not well-formed UTF-8 becomes U+FFFD, one for each byte that does not fit.
void put_json_string(output_chain& out, std::string_view text) noexcept;

/// A string, or `null` for an empty one.
void put_json_string_or_null(output_chain& out, std::string_view text) noexcept;

inline constexpr std::size_t longest_json_number = 40;

/// How many characters at the front of `text` stand for themselves in a string: ASCII without
/// control characters, `"` and `\`.
std::size_t plain_json_size(std::string_view text) noexcept;

/// A number in as few digits as give the same number back; the strings "NaN", "Infinity" and
/// "-Infinity" for what JSON cannot say. `at` has room for `longest_json_number` characters.
/// @return the place behind it.
template <typename T>
requires std::integral<T> || std::floating_point<T>
char* write_json_number(char* at, T value) noexcept {
    if constexpr (std::floating_point<T>) {
        if (!std::isfinite(value)) {
            const std::string_view name = std::isnan(value) ? "\"NaN\""
                                          : value > 0       ? "\"Infinity\""
                                                            : "\"-Infinity\"";
            return at + name.copy(at, name.size());
        }
    }
    return std::to_chars(at, at + longest_json_number, value).ptr;
}

/// As `write_json_number`.
template <typename T>
requires std::integral<T> || std::floating_point<T>
void put_json_number(output_chain& out, T value) noexcept {
    if (char* const at = out.claim(longest_json_number)) {
        const char* const end = write_json_number(at, value);
        out.unclaim(longest_json_number - static_cast<std::size_t>(end - at));
    }
}

/// A string of base64 with padding (RFC 4648, 4).
void put_json_base64(output_chain& out, std::span<const std::byte> bytes) noexcept;

/// As `put_json_time`, to `at`, which has room for `longest_json_time` characters.
/// @return the place behind it.
char* write_json_time(char* at, transport::wall_time_ns time) noexcept;
inline constexpr std::size_t longest_json_time = 40;

/// RFC 3339 in UTC with as many groups of three decimals as are not zero, e.g.
/// "2024-02-29T12:00:00.250Z".
void put_json_time(output_chain& out, transport::wall_time_ns time) noexcept;

/// As `put_json_time`, or `null` for 0.
void put_json_time_or_null(output_chain& out, transport::wall_time_ns time) noexcept;

/// A date and time in ticks of 100 ns since 1601. What lies before is shown as the beginning of
/// 1601, what lies past the year 9999 as its last second (OPC UA Part 6, 5.2.2.5). `at` has room
/// for `longest_json_time` characters. @return the place behind it.
char* write_json_ticks(char* at, std::int64_t ticks) noexcept;

inline void put_json_boolean(output_chain& out, bool value) noexcept {
    out.put(value ? std::string_view("true") : std::string_view("false"));
}

}  // namespace tagferry::web
