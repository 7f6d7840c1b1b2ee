// Where a value lies in a PLC, as people write it: `DB1.DBX0.3`, `DB1.DBW4`, `MW10`, `I0.0`, `QB4`.
#pragma once

#include "protocols/s7/wire/variables.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tagferry::s7 {

/// Area and start. The type, not the address, says the width.
struct address {
    area where = area::data_block;
    std::uint16_t block = 0;  ///< DB number, 1 to 65,535; 0 outside data blocks
    std::uint32_t byte = 0;
    std::uint8_t bit = 0;  ///< 0 to 7; 0 unless the text named a bit
    bool has_bit = false;  ///< the text named a bit (`DBX`, or `M10.3`)

    friend bool operator==(const address&, const address&) = default;
};

/// What is wrong with a text. `column` counts from 1; both views are of static storage.
struct parse_error {
    std::size_t column = 0;  ///< 0: no error
    std::string_view text;   ///< what was expected there
    std::string_view hint;   ///< an example of the right form, or empty

    explicit operator bool() const noexcept { return column != 0; }
};

/// Reads an address. Accepted: an optional `%`, upper and lower case, the English mnemonics I, Q,
/// M and the German E, A; `DB<n>.DBX<byte>.<bit>`, `.DBB<byte>`, `.DBW<byte>`, `.DBD<byte>`;
/// `<area><byte>.<bit>` with or without X, and `<area>B`, `W`, `D` with a byte number.
/// `out` is unchanged on error. No allocation.
parse_error parse_address(std::string_view text, address& out) noexcept;

/// The canonical English form without `%`: `DB1.DBX0.3` for a bit, `DB1.DBB4` otherwise.
std::string to_string(const address& value);

}  // namespace tagferry::s7
