// One-byte code pages of engineering stations, to UTF-8 and back. Neither direction fails on PLC
// bytes: every byte has a character, and every such character comes back as its byte.
#pragma once

#include "protocols/s7/types/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tagferry::s7 {

/// @param to at least three times as many bytes as `from`. @return bytes written.
std::size_t to_utf8(std::span<const std::byte> from, std::span<std::byte> to,
                    code_page page) noexcept;

/// @return characters written to `to`; nothing when the text is not UTF-8, has a character the
///   page does not have, or has more characters than fit. `too_long` tells the last case.
std::optional<std::size_t> from_utf8(std::span<const std::byte> from, std::span<std::byte> to,
                                     code_page page, bool& too_long) noexcept;

}  // namespace tagferry::s7
