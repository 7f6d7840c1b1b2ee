#include "protocols/s7/types/code_page.hpp"

#include <algorithm>
#include <array>

namespace tagferry::s7 {

namespace {

// Windows 1252, codes 0x80 to 0x9F. The five unused codes keep their C1 control characters.
constexpr std::uint8_t first_special = 0x80;
constexpr std::array<std::uint16_t, 32> specials = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

bool is_special(unsigned code) noexcept {
    return code >= first_special && code < first_special + specials.size();
}

std::optional<std::byte> byte_of(std::uint32_t character, code_page page) noexcept {
    if (page == code_page::windows_1252) {
        const auto found = std::find(specials.begin(), specials.end(), character);
        if (found != specials.end()) {
            return static_cast<std::byte>(first_special + (found - specials.begin()));
        }
        if (is_special(character)) {
            return std::nullopt;
        }
    }
    return character <= 0xFF ? std::optional{static_cast<std::byte>(character)} : std::nullopt;
}

/// The next character of a UTF-8 text; nothing when it is malformed. Four-byte forms are refused
/// as well: no code page here has a character beyond U+FFFF.
std::optional<std::uint32_t> next_character(std::span<const std::byte>& from) noexcept {
    const auto continuation = [&](std::size_t at) {
        const auto value = at < from.size() ? std::to_integer<std::uint32_t>(from[at]) : 0U;
        return (value & 0xC0U) == 0x80U ? value & 0x3FU : 0x100U;
    };
    const auto first = std::to_integer<std::uint32_t>(from[0]);
    if (first < 0x80) {
        from = from.subspan(1);
        return first;
    }
    const std::uint32_t second = continuation(1);
    if (first >= 0xC2 && first < 0xE0 && second < 0x100) {
        from = from.subspan(2);
        return (first & 0x1FU) << 6 | second;
    }
    const std::uint32_t third = continuation(2);
    if ((first & 0xF0U) != 0xE0U || second >= 0x100 || third >= 0x100) {
        return std::nullopt;
    }
    const std::uint32_t character = (first & 0x0FU) << 12 | second << 6 | third;
    if (character < 0x800) {
        return std::nullopt;
    }
    from = from.subspan(3);
    return character;
}

}  // namespace

std::size_t to_utf8(std::span<const std::byte> from, std::span<std::byte> to,
                    code_page page) noexcept {
    std::size_t size = 0;
    for (const std::byte byte : from) {
        std::uint32_t character = std::to_integer<std::uint32_t>(byte);
        if (page == code_page::windows_1252 && is_special(character)) {
            character = specials[character - first_special];
        }
        if (character < 0x80) {
            to[size++] = byte;
        } else if (character < 0x800) {
            to[size++] = static_cast<std::byte>(0xC0 | character >> 6);
            to[size++] = static_cast<std::byte>(0x80 | (character & 0x3F));
        } else {
            to[size++] = static_cast<std::byte>(0xE0 | character >> 12);
            to[size++] = static_cast<std::byte>(0x80 | (character >> 6 & 0x3F));
            to[size++] = static_cast<std::byte>(0x80 | (character & 0x3F));
        }
    }
    return size;
}

std::optional<std::size_t> from_utf8(std::span<const std::byte> from, std::span<std::byte> to,
                                     code_page page, bool& too_long) noexcept {
    std::size_t count = 0;
    too_long = false;
    while (!from.empty()) {
        const auto character = next_character(from);
        const auto byte = character ? byte_of(*character, page) : std::nullopt;
        if (!byte) {
            return std::nullopt;
        }
        if (count == to.size()) {
            too_long = true;
            return std::nullopt;
        }
        to[count++] = *byte;
    }
    return count;
}

}  // namespace tagferry::s7
