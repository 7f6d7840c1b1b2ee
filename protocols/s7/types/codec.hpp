// Between a PLC's bytes (big-endian) and a value slot of the gateway.
//
// A slot holds the elements of a value one after the other in host byte order, unpadded: scalars
// as they are, BOOL as one byte 0 or 1, CHAR as the PLC's byte, STRING as u16 length of the UTF-8
// text in bytes, then the text, then unused room up to `slot_element_size`.
#pragma once

#include "protocols/s7/types/data_type.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::s7 {

/// How a PLC's CHAR bytes are to be read.
enum class code_page : std::uint8_t {
    windows_1252,  ///< the usual engineering station; its five unused codes become U+0080..9F
    latin_1,       ///< ISO 8859-1
};

enum class decode_result : std::uint8_t {
    good,
    /// The PLC's content is not a value of the type (an uninitialised string: maximum 0, or more
    /// characters than the maximum or than declared). The slot holds what could be decoded.
    uncertain_substitute,
    /// The bytes are too few, or the slot is: nothing was written.
    bad_format,
};

enum class encode_result : std::uint8_t {
    good,
    too_long,      ///< a text has more characters than the PLC's string takes
    not_mappable,  ///< a character does not exist in the code page, or the text is not UTF-8
    bad_format,    ///< the slot or the buffer is too small
};

/// @param plc from the value's first byte, at least `plc_size(type, bit)` bytes.
/// @param bit where in its first byte a BOOL (or the first of an array) lies; 0 otherwise.
/// @param slot at least `slot_size(type)` bytes, any alignment.
decode_result decode_value(const data_type& type, std::uint8_t bit, std::span<const std::byte> plc,
                           std::span<std::byte> slot,
                           code_page page = code_page::windows_1252) noexcept;

/// The reverse, for everything that is written as bytes. A scalar BOOL gives one byte 0 or 1, as
/// the bit transport takes it; an array of BOOL gives packed bits from bit 0 on, unused ones 0.
/// A STRING gives maximum, current length and exactly the characters in use; the rest of its
/// `plc_size` is left as it was.
/// @param plc at least `plc_size(type)` bytes. @param bytes_used set to the bytes to be written.
encode_result encode_value(const data_type& type, std::span<const std::byte> slot,
                           std::span<std::byte> plc, std::size_t& bytes_used,
                           code_page page = code_page::windows_1252) noexcept;

}  // namespace tagferry::s7
