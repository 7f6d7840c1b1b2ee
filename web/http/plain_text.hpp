// Eight characters looked at in one step: most text that comes by needs no closer look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tagferry::web {

/// Eight bytes of text as one number; `from` has them all.
inline std::uint64_t eight_characters(const char* from) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
}

inline constexpr std::uint64_t in_each_byte = 0x0101010101010101U;

/// Whether one of the eight is `wanted`, or one before it in memory's order is; never wrong about
/// none of them being it.
constexpr bool has_character(std::uint64_t word, char wanted) noexcept {
    const std::uint64_t difference = word ^ (in_each_byte * static_cast<std::uint8_t>(wanted));
    return ((difference - in_each_byte) & ~difference & (in_each_byte * 0x80U)) != 0;
}

/// Whether one of the eight is a control character below 0x20 or no ASCII at all.
constexpr bool has_control_or_foreign(std::uint64_t word) noexcept {
    return (((word - in_each_byte * 0x20U) | word) & (in_each_byte * 0x80U)) != 0;
}

}  // namespace tagferry::web
