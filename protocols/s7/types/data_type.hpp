// The data types of a PLC as people write them, and their sizes on both sides.
#pragma once

#include "protocols/s7/types/address.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tagferry::s7 {

enum class base_type : std::uint8_t {
    boolean,
    byte,
    word,
    double_word,
    long_word,
    short_integer,            ///< SINT
    unsigned_short_integer,   ///< USINT
    integer,                  ///< INT
    unsigned_integer,         ///< UINT
    double_integer,           ///< DINT
    unsigned_double_integer,  ///< UDINT
    long_integer,             ///< LINT
    unsigned_long_integer,    ///< ULINT
    real,
    long_real,
    character,  ///< CHAR: one byte of the PLC's code page
    string,     ///< STRING[n]
};

inline constexpr std::uint8_t max_string_length = 254;
/// Largest whole value in PLC bytes: the largest block a classic PLC has.
inline constexpr std::size_t max_value_bytes = 65535;

struct data_type {
    base_type base = base_type::byte;
    bool array = false;
    std::uint32_t elements = 1;      ///< 1 for a scalar
    std::int32_t lower_bound = 0;    ///< index of the first element as the PLC program counts
    std::uint8_t string_length = 0;  ///< n of STRING[n], 1 to 254; 0 for other types

    friend bool operator==(const data_type&, const data_type&) = default;
};

/// Reads a type: the names above in any case, `STRING` (254) and `STRING[n]`,
/// `ARRAY[a..b] OF <type>`. `out` is unchanged on error. No allocation.
parse_error parse_data_type(std::string_view text, data_type& out) noexcept;

/// The canonical form, as `parse_data_type` takes it.
std::string to_string(const data_type& type);

/// Whether the type may lie at the address: BOOL needs a named bit and other types must not name
/// a bit other than 0; words and larger types may lie at any byte. Error columns point at the
/// address text's start. Also checks that the value ends within the addressable range.
parse_error check_fit(const address& where, const data_type& type) noexcept;

/// Bytes of one element in the PLC, padding between the elements of an array not counted;
/// 1 for BOOL. STRING[n]: n + 2.
std::size_t plc_element_size(const data_type& type) noexcept;
/// Bytes from one element to the next in an array: strings start on even bytes.
/// Meaningless for BOOL, whose elements are bits.
std::size_t plc_element_stride(const data_type& type) noexcept;
/// Bytes a value touches in the PLC when it starts at bit `bit` of its first byte (0 unless
/// BOOL): the length to be read.
std::size_t plc_size(const data_type& type, std::uint8_t bit = 0) noexcept;
/// Bytes that must come from one reply for a value not to be torn: the element of a scalar
/// array, the whole value of a scalar; strings as a whole.
std::size_t plc_granule(const data_type& type) noexcept;

/// Bytes of one element in a slot of the tag table. BOOL 1, scalars their size; STRING[n]:
/// u16 length, then room for the UTF-8 of n characters (3 n), rounded up to even.
std::size_t slot_element_size(const data_type& type) noexcept;
/// Bytes of the whole value in a slot: elements one after the other.
std::size_t slot_size(const data_type& type) noexcept;

}  // namespace tagferry::s7
