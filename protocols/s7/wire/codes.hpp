// Result codes on the wire and what they mean in words.
#pragma once

#include <cstdint>
#include <string_view>

namespace tagferry::s7 {

/// Result of one item of a read or write. Values not listed are passed through as they came.
enum class item_code : std::uint8_t {
    never_executed = 0x00,
    hardware_fault = 0x01,
    access_denied = 0x03,   ///< PUT/GET off, read-only area, optimised block on some firmware
    out_of_range = 0x05,    ///< the address lies outside its block or area
    not_supported = 0x06,   ///< e.g. a bit access with a count over 1
    type_mismatch = 0x07,   ///< type and length do not fit each other
    object_missing = 0x0A,  ///< no such block, or an optimised one
    success = 0xFF,
};

/// What the code says, with the remedy where one is known. Static storage.
std::string_view words_of(item_code code) noexcept;

/// Job-level errors, class in the high byte.
inline constexpr std::uint16_t error_service_not_implemented = 0x8104;
inline constexpr std::uint16_t error_pdu_size = 0x8500;
inline constexpr std::uint16_t error_protection_level = 0xD241;

/// What a job-level error says; "unknown error" for one that is not in the list. Static storage.
std::string_view words_of_job_error(std::uint16_t error) noexcept;

}  // namespace tagferry::s7
