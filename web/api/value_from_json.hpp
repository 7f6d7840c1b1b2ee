// A JSON value as a tag's value: the way back from value_json.hpp.
#pragma once

#include "web/backend/value.hpp"
#include "web/http/json_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::web {

/// What a tag's values look like.
struct value_shape {
    value_type type = value_type::none;
    std::int32_t array_length = scalar;  ///< `scalar`, or exactly so many elements
    std::uint16_t capacity = 0;          ///< bytes a text may have
};

enum class conversion : std::uint8_t {
    done,
    type_mismatch,  ///< not what the tag takes
    out_of_range,   ///< a number the type cannot hold
    too_long,       ///< a text or array longer than the tag takes
    no_room,        ///< `into` is too small
    malformed,      ///< not JSON
};

/// Reads the value that `first`, the token just read, begins, and reads past it whatever comes of
/// it. 64-bit integers may be strings or numbers, floats the strings that `put_json_value` writes
/// for what JSON cannot say; a whole number may be written as `5.0`.
/// @param into gets the value in slot form. @param used bytes of it that were used.
conversion read_json_value(json_reader& reader, json_token first, const value_shape& shape,
                           std::span<std::byte> into, std::size_t& used) noexcept;

}  // namespace tagferry::web
