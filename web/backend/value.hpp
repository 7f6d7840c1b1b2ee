// A value as the web room sees it: a type, a length and bytes in the gateway's slot form.
#pragma once

#include "transport/time/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

enum class value_type : std::uint8_t {
    none,  ///< no value: never read, or nothing to show
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    float32,
    float64,
    string,
    date_time,    ///< int64, ticks of 100 ns since 1601-01-01T00:00:00Z
    byte_string,  ///< u16 length and bytes, like string
};

/// Lower-case name as `type` shows it in a tag row, e.g. "uint16". Static storage.
std::string_view name_of(value_type type) noexcept;

/// Bytes of one element in slot form; 0 for `none`, `string` and `byte_string`, whose elements
/// say their own size.
std::size_t element_size(value_type type) noexcept;

inline constexpr std::int32_t scalar = -1;

/// Does not own its bytes. Slot form: elements in host byte order, one after the other without
/// padding; a boolean is one byte, 0 or 1; a string is a u16 count of bytes in host order and
/// then that many bytes of UTF-8. Whoever renders a view checks it: bytes that do not hold
/// `array_length` elements are shown as no value, never read past.
struct value_view {
    value_type type = value_type::none;
    std::int32_t array_length = scalar;  ///< `scalar`, or the number of elements
    std::span<const std::byte> bytes;
};

/// One cursor of the gateway's tag index. A stale generation is not found, never another tag.
struct tag_handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const tag_handle&, const tag_handle&) = default;
};

/// What a value row of the interface is made of. Views stay valid until the next call into the
/// same backend interface or the end of the turn, whichever comes first.
struct value_row {
    tag_handle handle;
    std::string_view path;
    value_view value;                              ///< `none` where there is nothing to show
    std::uint32_t status = 0;                      ///< OPC UA StatusCode
    std::string_view status_name = "Good";         ///< its symbolic name, static storage
    std::uint16_t reason_id = 0;                   ///< of the catalogue; 0: none
    std::string_view reason;                       ///< words; empty: none
    transport::wall_time_ns source_timestamp = 0;  ///< 0: none
    transport::wall_time_ns server_timestamp = 0;  ///< 0: none
    bool has_last_good = false;                    ///< only where the status is not Good
    value_view last_good;
    transport::wall_time_ns last_good_timestamp = 0;
};

/// The two top bits of a StatusCode: 00 is Good (OPC UA Part 4, 7.39).
constexpr bool is_good(std::uint32_t status) noexcept {
    return (status >> 30) == 0;
}

/// The top bit of a StatusCode: a bad value is never shown.
constexpr bool is_bad(std::uint32_t status) noexcept {
    return (status >> 31) != 0;
}

}  // namespace tagferry::web
