// How a value of the gateway looks to the OPC UA server: plain views, no ownership.
#pragma once

#include "transport/time/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua {

/// A StatusCode of Part 4 §7.39 as it stands on the wire; names are in
/// spec/generated/status_codes.hpp.
using status_code = std::uint32_t;

/// True for severity Good (the two top bits are 00).
constexpr bool is_good(status_code code) noexcept {
    return (code >> 30U) == 0;
}
/// True for severity Bad (the top bit is set). Uncertain is neither good nor bad.
constexpr bool is_bad(status_code code) noexcept {
    return (code >> 31U) != 0;
}

/// The built-in types of Part 6 §5.1.2 with their ids on the wire.
enum class builtin_type : std::uint8_t {
    null = 0,
    boolean = 1,
    sbyte = 2,
    byte = 3,
    int16 = 4,
    uint16 = 5,
    int32 = 6,
    uint32 = 7,
    int64 = 8,
    uint64 = 9,
    float32 = 10,
    float64 = 11,
    string = 12,
    date_time = 13,
    guid = 14,
    byte_string = 15,
    xml_element = 16,
    node_id = 17,
    expanded_node_id = 18,
    status = 19,
    qualified_name = 20,
    localized_text = 21,
    extension_object = 22,
    data_value = 23,
    variant = 24,
    diagnostic_info = 25,
};

/// Bytes of one element in the gateway's slot form; 0 for types without a fixed size there.
constexpr std::size_t slot_element_size(builtin_type type) noexcept {
    switch (type) {
        case builtin_type::boolean:
        case builtin_type::sbyte:
        case builtin_type::byte:
            return 1;
        case builtin_type::int16:
        case builtin_type::uint16:
            return 2;
        case builtin_type::int32:
        case builtin_type::uint32:
        case builtin_type::float32:
        case builtin_type::status:
            return 4;
        case builtin_type::int64:
        case builtin_type::uint64:
        case builtin_type::float64:
        case builtin_type::date_time:
            return 8;
        default:
            return 0;
    }
}

/// A value in the gateway's canonical slot form: scalars and arrays are their elements in host
/// byte order, one after the other without padding; Boolean is one byte each, 0 or 1; String and
/// ByteString are a u16 length in host order and that many bytes (UTF-8 for String); DateTime is
/// an int64 of 100 ns ticks since 1601-01-01T00:00:00Z.
struct value_view {
    builtin_type type = builtin_type::null;  ///< `null`: there is no value
    std::int32_t array_length = -1;          ///< elements, or -1 for a scalar
    std::span<const std::byte> bytes{};      ///< exactly the elements, no more
};

/// One sample of a tag: what Part 4 calls a DataValue.
struct sample {
    value_view value{};
    status_code status = 0;
    /// When the device delivered the value: arrival of the reply that held it. 0: never.
    transport::wall_time_ns source_time = 0;
    /// When the gateway last knew `value` and `status` to be true. 0: never.
    transport::wall_time_ns server_time = 0;
};

/// One sample of a tag that is one number, in a form that is passed on without a look at its type.
struct number_sample {
    std::uint64_t bits = 0;  ///< the value's bytes, the first one lowest; 0 without a value
    transport::wall_time_ns source_time = 0;  ///< as in `sample`
    transport::wall_time_ns server_time = 0;
    status_code status = 0;
    builtin_type type = builtin_type::null;  ///< `null`: this is not about one number
    std::uint8_t size = 0;                   ///< bytes of the value, 1 to 8; 0 without a value
};

/// Values up to this size are copied into the scratch memory of the reader.
inline constexpr std::size_t max_inline_value_bytes = 4096;

}  // namespace tagferry::opcua
