#include "protocols/opcua/encoding/encoder.hpp"

#include <algorithm>
#include <cstring>

namespace tagferry::opcua {
namespace {

bytes_view as_bytes(std::string_view text) noexcept {
    return std::as_bytes(std::span<const char>{text.data(), text.size()});
}

}  // namespace

void encoder::fail(status_code why) noexcept {
    if (status_ == status::good) {
        status_ = why;
    }
    // With no room left every later write ends here again, at the cost of one comparison.
    end_ = at_;
}

bool encoder::advance(std::size_t count) noexcept {
    if (status_ != status::good) {
        return false;
    }
    std::span<std::byte> next;
    const status_code result =
        more_ == nullptr ? status::bad_encoding_limits_exceeded : more_->next_chunk(used(), next);
    if (result != status::good || next.size() < count) {
        fail(result == status::good ? status::bad_encoding_limits_exceeded : result);
        return false;
    }
    begin_ = at_ = next.data();
    end_ = next.data() + next.size();
    return true;
}

void encoder::raw(bytes_view bytes) noexcept {
    while (!bytes.empty()) {
        const auto room = static_cast<std::size_t>(end_ - at_);
        if (room == 0) {
            if (!advance(1)) {
                return;
            }
            continue;
        }
        const std::size_t part = std::min(room, bytes.size());
        std::memcpy(at_, bytes.data(), part);
        at_ += part;
        bytes = bytes.subspan(part);
    }
}

void encoder::string(text_view text) noexcept {
    if (text.data() == nullptr) {
        i32(-1);
        return;
    }
    i32(static_cast<std::int32_t>(text.size()));
    raw(as_bytes(text));
}

void encoder::byte_string(bytes_view bytes) noexcept {
    if (bytes.data() == nullptr) {
        i32(-1);
        return;
    }
    i32(static_cast<std::int32_t>(bytes.size()));
    raw(bytes);
}

void encoder::numeric_id(std::uint16_t namespace_index, std::uint32_t number) noexcept {
    numeric_id(namespace_index, number, 0);
}

// @param flags of an ExpandedNodeId, which share the first byte.
void encoder::numeric_id(std::uint16_t namespace_index, std::uint32_t number,
                         std::uint8_t flags) noexcept {
    if (namespace_index == 0 && number <= 0xFF) {
        u8(flags);
        u8(static_cast<std::uint8_t>(number));
    } else if (namespace_index <= 0xFF && number <= 0xFFFF) {
        u8(static_cast<std::uint8_t>(1U | flags));
        u8(static_cast<std::uint8_t>(namespace_index));
        u16(static_cast<std::uint16_t>(number));
    } else {
        u8(static_cast<std::uint8_t>(2U | flags));
        u16(namespace_index);
        u32(number);
    }
}

void encoder::node_id(const node_id_view& id) noexcept {
    node_id(id, 0);
}

void encoder::expanded_node_id(const expanded_node_id_view& id) noexcept {
    const bool has_uri = id.namespace_uri.data() != nullptr;
    node_id(id.id, static_cast<std::uint8_t>((has_uri ? 0x80U : 0U) |
                                             (id.server_index != 0 ? 0x40U : 0U)));
    if (has_uri) {
        string(id.namespace_uri);
    }
    if (id.server_index != 0) {
        u32(id.server_index);
    }
}

void encoder::node_id(const node_id_view& id, std::uint8_t flags) noexcept {
    if (id.kind == node_id_kind::numeric) {
        numeric_id(id.namespace_index, id.number, flags);
        return;
    }
    const unsigned form = id.kind == node_id_kind::string ? 3U
                          : id.kind == node_id_kind::guid ? 4U
                                                          : 5U;
    u8(static_cast<std::uint8_t>(form | flags));
    u16(id.namespace_index);
    if (id.kind == node_id_kind::guid) {
        raw(as_bytes(id.bytes));
    } else {
        string(id.bytes);
    }
}

void encoder::qualified_name(std::uint16_t namespace_index, text_view name) noexcept {
    u16(namespace_index);
    string(name);
}

void encoder::localized_text(text_view text, text_view locale) noexcept {
    u8(static_cast<std::uint8_t>((locale.empty() ? 0U : 1U) | (text.data() == nullptr ? 0U : 2U)));
    if (!locale.empty()) {
        string(locale);
    }
    if (text.data() != nullptr) {
        string(text);
    }
}

void encoder::extension_object(const extension_object_view& object) noexcept {
    node_id(object.type);
    u8(object.encoding);
    if (object.encoding != 0) {
        byte_string(object.body);
    }
}

void encoder::element(const localized_text_view& text) noexcept {
    u8(static_cast<std::uint8_t>((text.locale.data() == nullptr ? 0U : 1U) |
                                 (text.text.data() == nullptr ? 0U : 2U)));
    if (text.locale.data() != nullptr) {
        string(text.locale);
    }
    if (text.text.data() != nullptr) {
        string(text.text);
    }
}

void encoder::data_value(const data_value_view& value) noexcept {
    u8(static_cast<std::uint8_t>(
        (value.has_value ? 0x01U : 0U) | (value.has_status ? 0x02U : 0U) |
        (value.has_source_timestamp ? 0x04U : 0U) | (value.has_server_timestamp ? 0x08U : 0U) |
        (value.has_source_picoseconds ? 0x10U : 0U) | (value.has_server_picoseconds ? 0x20U : 0U)));
    if (value.has_value) {
        variant(value.value);
    }
    if (value.has_status) {
        u32(value.status);
    }
    if (value.has_source_timestamp) {
        i64(value.source_timestamp);
    }
    if (value.has_source_picoseconds) {
        u16(value.source_picoseconds);
    }
    if (value.has_server_timestamp) {
        i64(value.server_timestamp);
    }
    if (value.has_server_picoseconds) {
        u16(value.server_picoseconds);
    }
}

void encoder::diagnostic_info(const diagnostic_info_view& info) noexcept {
    u8(info.mask);
    const auto number = [&](unsigned bit, std::int32_t value) {
        if ((info.mask & bit) != 0) {
            i32(value);
        }
    };
    number(0x01U, info.symbolic_id);
    number(0x02U, info.namespace_uri);
    number(0x08U, info.locale);
    number(0x04U, info.localized_text);
    if ((info.mask & 0x10U) != 0) {
        string(info.additional_info);
    }
    if ((info.mask & 0x20U) != 0) {
        u32(info.inner_status);
    }
    raw(info.inner);
}

void encoder::null_extension_object() noexcept {
    u8(0);
    u8(0);
    u8(0);
}

void encoder::variant_array_head(builtin_type type, std::uint32_t count) noexcept {
    u8(static_cast<std::uint8_t>(static_cast<unsigned>(type) | 0x80U));
    u32(count);
}

void encoder::slot_strings(const value_view& value) noexcept {
    bytes_view rest = value.bytes;
    std::int32_t left = value.array_length < 0 ? 1 : value.array_length;
    for (; left != 0; --left) {
        if (rest.size() < 2) {
            fail(status::bad_internal_error);
            return;
        }
        std::uint16_t length = 0;
        std::memcpy(&length, rest.data(), sizeof length);
        if (length > rest.size() - 2) {
            fail(status::bad_internal_error);
            return;
        }
        i32(length);
        raw(rest.subspan(2, length));
        rest = rest.subspan(std::size_t{2} + length);
    }
}

void encoder::variant(const value_view& value) noexcept {
    const auto type = static_cast<std::uint8_t>(value.type);
    if (value.array_length < 0) {
        u8(type);
    } else {
        u8(static_cast<std::uint8_t>(type | 0x80U));
        i32(value.array_length);
    }
    const std::size_t size = slot_element_size(value.type);
    if (size == 0) {
        if (value.type != builtin_type::null) {
            slot_strings(value);
        }
        return;
    }
    const auto count = static_cast<std::size_t>(value.array_length < 0 ? 1 : value.array_length);
    if (value.bytes.size() != size * count) {
        fail(status::bad_internal_error);  // the gateway's fault, and no reason to lie to a client
        return;
    }
    if constexpr (std::endian::native == std::endian::little) {
        raw(value.bytes);
    } else {
        for (std::size_t at = 0; at + size <= value.bytes.size(); at += size) {
            for (std::size_t byte = size; byte != 0; --byte) {
                u8(std::to_integer<std::uint8_t>(value.bytes[at + byte - 1]));
            }
        }
    }
}

void encoder::variant(const variant_view& value) noexcept {
    const auto type = static_cast<unsigned>(value.type);
    u8(static_cast<std::uint8_t>(type | (value.is_array ? 0x80U : 0U) |
                                 (value.dimensions.empty() ? 0U : 0x40U)));
    if (value.is_array) {
        i32(value.array_length);
    }
    raw(value.elements);
    if (!value.dimensions.empty()) {
        i32(static_cast<std::int32_t>(value.dimensions.size() / 4));
        raw(value.dimensions);
    }
}

}  // namespace tagferry::opcua
