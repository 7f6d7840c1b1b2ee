// Values that say which tag they belong to and how often they have moved: what a test of truth
// reads back from whatever a gateway shows.
#pragma once

#include "protocols/s7/types/data_type.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tagferry::s7 {

/// Both modulo the bits their type leaves them.
struct tagged_value {
    std::uint64_t number = 0;   ///< of the tag
    std::uint64_t counter = 0;  ///< one more each period of the signal
    friend bool operator==(const tagged_value&, const tagged_value&) = default;
};

/// Bits of a value of a type, the number's above the counter's: 0 and 1 for BOOL, 3 and 5 for one
/// byte, 6 and 10 for two, 14 and 18 for four, 24 and 40 for eight; REAL 10 and 14, LREAL 20 and
/// 32, which both hold exactly. STRING is text: number, colon, counter.
struct tagged_bits {
    unsigned number = 0;
    unsigned counter = 0;
};
tagged_bits tagged_bits_of(base_type type) noexcept;

/// The value's bits; of REAL and LREAL the whole number it is. A BOOL is the counter's last bit,
/// turned over when the tag's number is odd. Not for STRING.
std::uint64_t join_tagged(base_type type, const tagged_value& value) noexcept;
/// The reverse, from a value's bits (sign-extended or not). A BOOL tells its counter's last bit
/// only when the number is even. Not for STRING.
tagged_value split_tagged(base_type type, std::uint64_t bits) noexcept;

/// The text of a STRING.
std::string tagged_text(const tagged_value& value);
/// Nothing when the text is not one of these.
std::optional<tagged_value> split_tagged_text(std::string_view text) noexcept;

}  // namespace tagferry::s7
