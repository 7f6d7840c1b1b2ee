#include "gateway/expose/slot_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tagferry::gateway {

bool needs_packing(const value_type& type) noexcept {
    return type.element == data_type::string || type.element == data_type::byte_string;
}

std::span<const std::byte> pack_slot(const value_type& type, std::span<std::byte> slot) noexcept {
    if (!needs_packing(type)) {
        return slot;
    }
    const std::size_t stride = element_stride(type);
    std::size_t used = 0;
    for (std::size_t from = 0; from + stride <= slot.size(); from += stride) {
        std::uint16_t length = 0;
        std::memcpy(&length, slot.data() + from, sizeof length);
        length = std::min(length, type.capacity);
        std::memmove(slot.data() + used + sizeof length, slot.data() + from + sizeof length,
                     length);
        std::memcpy(slot.data() + used, &length, sizeof length);
        used += sizeof length + length;
    }
    return slot.first(used);
}

bool unpack_slot(const value_type& type, std::span<const std::byte> packed,
                 std::span<std::byte> slot) noexcept {
    if (!needs_packing(type)) {
        if (packed.size() != slot.size()) {
            return false;
        }
        std::ranges::copy(packed, slot.begin());
        return true;
    }
    const std::size_t stride = element_stride(type);
    std::ranges::fill(slot, std::byte{});
    for (std::size_t to = 0; to + stride <= slot.size(); to += stride) {
        std::uint16_t length = 0;
        if (packed.size() < sizeof length) {
            return false;
        }
        std::memcpy(&length, packed.data(), sizeof length);
        if (length > type.capacity || packed.size() - sizeof length < length) {
            return false;
        }
        std::memcpy(slot.data() + to, packed.data(), sizeof length + length);
        packed = packed.subspan(sizeof length + length);
    }
    return packed.empty();
}

opcua::builtin_type to_opcua(data_type type) noexcept {
    switch (type) {
        case data_type::boolean:
            return opcua::builtin_type::boolean;
        case data_type::int8:
            return opcua::builtin_type::sbyte;
        case data_type::uint8:
            return opcua::builtin_type::byte;
        case data_type::int16:
            return opcua::builtin_type::int16;
        case data_type::uint16:
            return opcua::builtin_type::uint16;
        case data_type::int32:
            return opcua::builtin_type::int32;
        case data_type::uint32:
            return opcua::builtin_type::uint32;
        case data_type::int64:
            return opcua::builtin_type::int64;
        case data_type::uint64:
            return opcua::builtin_type::uint64;
        case data_type::float32:
            return opcua::builtin_type::float32;
        case data_type::float64:
            return opcua::builtin_type::float64;
        case data_type::date_time:
            return opcua::builtin_type::date_time;
        case data_type::string:
            return opcua::builtin_type::string;
        case data_type::byte_string:
            return opcua::builtin_type::byte_string;
        case data_type::structure:
            return opcua::builtin_type::null;
    }
    return opcua::builtin_type::null;
}

web::value_type to_web(data_type type) noexcept {
    switch (type) {
        case data_type::boolean:
            return web::value_type::boolean;
        case data_type::int8:
            return web::value_type::int8;
        case data_type::uint8:
            return web::value_type::uint8;
        case data_type::int16:
            return web::value_type::int16;
        case data_type::uint16:
            return web::value_type::uint16;
        case data_type::int32:
            return web::value_type::int32;
        case data_type::uint32:
            return web::value_type::uint32;
        case data_type::int64:
            return web::value_type::int64;
        case data_type::uint64:
            return web::value_type::uint64;
        case data_type::float32:
            return web::value_type::float32;
        case data_type::float64:
            return web::value_type::float64;
        case data_type::date_time:
            return web::value_type::date_time;
        case data_type::string:
            return web::value_type::string;
        case data_type::byte_string:
            return web::value_type::byte_string;
        case data_type::structure:
            return web::value_type::none;
    }
    return web::value_type::none;
}

}  // namespace tagferry::gateway
