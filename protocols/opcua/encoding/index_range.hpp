// NumericRange of Part 4 §7.27: parts of arrays.
#pragma once

#include "protocols/opcua/backend/value_view.hpp"
#include "protocols/opcua/encoding/views.hpp"

#include <cstdint>

namespace tagferry::opcua {

class encoder;
struct limits;

/// One dimension, both ends included. Only the first dimension is used: every value here has one.
struct index_range {
    bool present = false;  ///< false: the whole value
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t dimensions = 0;
};

/// Reads `1`, `1:3`, `1:3,0:1`. A null or empty text is no range.
/// @return Good or BadIndexRangeInvalid (syntax, or an upper bound not above the lower one).
status_code read_index_range(text_view text, index_range& out) noexcept;

/// Writes the part of a value as a Variant: what lies inside, when the range ends past the value.
/// @return Good, or BadIndexRangeNoData with nothing written: a scalar, too many dimensions, or
///   wholly outside.
status_code write_part(encoder& out, const value_view& value, const index_range& range) noexcept;
status_code write_part(encoder& out, const variant_view& value, const index_range& range,
                       const limits& bounds) noexcept;

}  // namespace tagferry::opcua
