#include "protocols/opcua/encoding/slot_form.hpp"

#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "transport/bytes/endian.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tagferry::opcua {
namespace {

constexpr std::size_t encoded_length_size = 4;
constexpr std::size_t slot_length_size = 2;

// A null text is written as an empty one: a device has no null.
std::size_t encoded_length(const std::byte* at) noexcept {
    return static_cast<std::size_t>(
        std::max(transport::load<std::int32_t>(at, std::endian::little), std::int32_t{0}));
}

// Each text moves to the front, so that what is read is never written over before.
status_code texts_to_slot(std::size_t count, std::span<std::byte> memory,
                          bytes_view& out) noexcept {
    std::size_t from = 0;
    std::size_t to = 0;
    for (; count != 0; --count) {
        const std::size_t length = encoded_length(memory.data() + from);
        if (length > std::numeric_limits<std::uint16_t>::max()) {
            return status::bad_out_of_range;
        }
        from += encoded_length_size;
        const auto slot_length = static_cast<std::uint16_t>(length);
        std::memcpy(memory.data() + to, &slot_length, slot_length_size);
        std::memmove(memory.data() + to + slot_length_size, memory.data() + from, length);
        from += length;
        to += slot_length_size + length;
    }
    out = memory.first(to);
    return status::good;
}

}  // namespace

status_code variant_to_slot(const variant_view& value, std::span<std::byte> memory,
                            value_view& out) noexcept {
    if (value.type == builtin_type::null || (value.is_array && value.array_length < 0)) {
        return status::bad_type_mismatch;
    }
    out = {value.type, value.is_array ? value.array_length : -1, memory};
    const std::size_t size = slot_element_size(value.type);
    if (size == 0) {
        const bool texts =
            value.type == builtin_type::string || value.type == builtin_type::byte_string;
        return texts ? texts_to_slot(
                           value.is_array ? static_cast<std::size_t>(value.array_length) : 1,
                           memory, out.bytes)
                     : status_code{status::bad_type_mismatch};
    }
    if (value.type == builtin_type::boolean) {
        for (std::byte& each : memory) {
            each = each == std::byte{0} ? std::byte{0} : std::byte{1};
        }
    }
    if constexpr (std::endian::native != std::endian::little) {
        for (std::size_t at = 0; at < memory.size(); at += size) {
            std::ranges::reverse(memory.subspan(at, size));
        }
    }
    return status::good;
}

status_code byte_string_to_slot(std::span<std::byte> memory, value_view& out) noexcept {
    if (transport::load<std::int32_t>(memory.data(), std::endian::little) < 0) {
        return status::bad_type_mismatch;
    }
    out = {builtin_type::byte, static_cast<std::int32_t>(memory.size() - encoded_length_size),
           memory.subspan(encoded_length_size)};
    return status::good;
}

}  // namespace tagferry::opcua
