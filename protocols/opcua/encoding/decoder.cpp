#include "protocols/opcua/encoding/decoder.hpp"

#include <limits>

namespace tagferry::opcua {
namespace {

std::string_view as_text(bytes_view bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Bytes that one encoded element takes at least: what bounds a count before it is believed.
std::size_t smallest_element(builtin_type type) noexcept {
    switch (type) {
        case builtin_type::guid:
            return 16;
        case builtin_type::string:
        case builtin_type::byte_string:
        case builtin_type::xml_element:
            return 4;
        case builtin_type::node_id:
        case builtin_type::expanded_node_id:
            return 2;
        case builtin_type::qualified_name:
            return 6;
        case builtin_type::extension_object:
            return 3;
        default: {
            const std::size_t fixed = slot_element_size(type);
            return fixed == 0 ? 1 : fixed;
        }
    }
}

}  // namespace

void decoder::fail(status_code why) noexcept {
    if (reader_.ok()) {
        status_ = why;
        reader_.fail();
    }
}

bool decoder::enter() noexcept {
    // Part 6 §5.1.5: a decoder supports at least 100 levels or reports that it does not.
    if (depth_ >= limits_->max_nesting_depth) {
        fail(status::bad_encoding_limits_exceeded);
        return false;
    }
    ++depth_;
    return true;
}

text_view decoder::string() noexcept {
    const std::int32_t length = reader_.i32();
    if (length == -1) {
        return {};
    }
    if (length < 0) {
        fail(status::bad_decoding_error);
        return {};
    }
    if (static_cast<std::uint32_t>(length) > limits_->max_string_length) {
        fail(status::bad_encoding_limits_exceeded);
        return {};
    }
    return as_text(reader_.bytes(static_cast<std::size_t>(length)));
}

bytes_view decoder::byte_string() noexcept {
    const std::int32_t length = reader_.i32();
    if (length == -1) {
        return {};
    }
    if (length < 0) {
        fail(status::bad_decoding_error);
        return {};
    }
    if (static_cast<std::uint32_t>(length) > limits_->max_byte_string_length) {
        fail(status::bad_encoding_limits_exceeded);
        return {};
    }
    return reader_.bytes(static_cast<std::size_t>(length));
}

node_id_view decoder::node_id_otherwise() noexcept {
    return node_id_of_form(reader_.u8());
}

node_id_view decoder::node_id_of_form(std::uint8_t form) noexcept {
    node_id_view id;
    switch (form) {
        case 0:  // two bytes in all
            id.number = reader_.u8();
            break;
        case 1:  // four bytes in all
            id.namespace_index = reader_.u8();
            id.number = reader_.u16();
            break;
        case 2:
            id.namespace_index = reader_.u16();
            id.number = reader_.u32();
            break;
        case 3:
            id.kind = node_id_kind::string;
            id.namespace_index = reader_.u16();
            id.bytes = string();
            break;
        case 4:
            id.kind = node_id_kind::guid;
            id.namespace_index = reader_.u16();
            id.bytes = as_text(reader_.bytes(16));
            break;
        case 5:
            id.kind = node_id_kind::opaque;
            id.namespace_index = reader_.u16();
            id.bytes = as_text(byte_string());
            break;
        default:
            fail(status::bad_decoding_error);
    }
    return id;
}

expanded_node_id_view decoder::expanded_node_id() noexcept {
    expanded_node_id_view out;
    if (reader_.remaining() == 0) {
        fail(status::bad_decoding_error);
        return out;
    }
    // The two flags of Part 6 §5.2.2.10 share the first byte with the form of the NodeId.
    const std::uint8_t first = reader_.u8();
    out.id = node_id_of_form(first & 0x3FU);
    if ((first & 0x80U) != 0) {
        out.namespace_uri = string();
    }
    if ((first & 0x40U) != 0) {
        out.server_index = reader_.u32();
    }
    return out;
}

qualified_name_view decoder::qualified_name() noexcept {
    qualified_name_view out;
    out.namespace_index = reader_.u16();
    out.name = string();
    return out;
}

localized_text_view decoder::localized_text() noexcept {
    localized_text_view out;
    const std::uint8_t mask = reader_.u8();
    if ((mask & ~0x03U) != 0) {
        fail(status::bad_decoding_error);
        return out;
    }
    if ((mask & 0x01U) != 0) {
        out.locale = string();
    }
    if ((mask & 0x02U) != 0) {
        out.text = string();
    }
    return out;
}

extension_object_view decoder::extension_object() noexcept {
    extension_object_view out;
    if (!enter()) {
        return out;
    }
    out.type = node_id();
    out.encoding = reader_.u8();
    if (out.encoding == 1 || out.encoding == 2) {
        out.body = byte_string();
    } else if (out.encoding != 0) {
        fail(status::bad_decoding_error);
    }
    leave();
    return out;
}

std::int32_t decoder::nullable_array_length(std::size_t smallest) noexcept {
    const std::int32_t length = reader_.i32();
    if (length == -1) {
        return -1;
    }
    if (length < 0) {
        fail(status::bad_decoding_error);
        return -1;
    }
    const auto count = static_cast<std::uint32_t>(length);
    if (count > limits_->max_array_length) {
        fail(status::bad_encoding_limits_exceeded);
        return -1;
    }
    if (smallest * count > reader_.remaining()) {
        fail(status::bad_decoding_error);
        return -1;
    }
    return length;
}

std::uint32_t decoder::array_length(std::size_t smallest) noexcept {
    const std::int32_t length = nullable_array_length(smallest);
    return length < 0 ? 0 : static_cast<std::uint32_t>(length);
}

void decoder::skip_strings() noexcept {
    for (std::uint32_t left = array_length(4); left != 0 && ok(); --left) {
        string();
    }
}

void decoder::elements(builtin_type type, std::uint32_t count) noexcept {
    const std::size_t fixed = slot_element_size(type);
    if (fixed != 0) {
        reader_.skip(fixed * count);
        return;
    }
    for (; count != 0 && ok(); --count) {
        skip(type);
    }
}

void decoder::skip(builtin_type type) noexcept {
    element(type, [](const auto&) {});
}

void decoder::variant_array(variant_view& out, bool has_dimensions) noexcept {
    out.is_array = true;
    out.array_length = nullable_array_length(smallest_element(out.type));
    decoder body = *this;
    const std::size_t begin = reader_.position();
    elements(out.type, out.array_length < 0 ? 0 : static_cast<std::uint32_t>(out.array_length));
    if (ok()) {
        out.elements = body.reader_.bytes(reader_.position() - begin);
    }
    if (!has_dimensions) {
        return;
    }
    const std::uint32_t count = array_length(4);
    std::uint64_t product = 1;
    decoder sizes = *this;
    for (std::uint32_t at = 0; at < count && ok(); ++at) {
        const std::int32_t size = reader_.i32();
        // A product over the limit is wrong whatever follows, unless a zero follows; the cap
        // keeps the multiplication from overflowing (E59).
        if (size < 0 || product > std::numeric_limits<std::uint32_t>::max()) {
            fail(status::bad_decoding_error);
            return;
        }
        product *= static_cast<std::uint32_t>(size);
    }
    if (ok() && count != 0) {
        const std::int64_t length = out.array_length < 0 ? 0 : out.array_length;
        if (product != static_cast<std::uint64_t>(length)) {
            fail(status::bad_decoding_error);
            return;
        }
        out.dimensions = sizes.reader_.bytes(std::size_t{4} * count);
    }
}

variant_view decoder::variant() noexcept {
    variant_view out;
    if (!enter()) {
        return out;
    }
    const std::uint8_t mask = reader_.u8();
    const std::uint8_t type = mask & 0x3FU;
    const bool is_array = (mask & 0x80U) != 0;
    const bool has_dimensions = (mask & 0x40U) != 0;
    if (type > static_cast<std::uint8_t>(builtin_type::diagnostic_info) ||
        (has_dimensions && !is_array) || (type == 0 && mask != 0)) {
        fail(status::bad_decoding_error);
        leave();
        return out;
    }
    out.type = static_cast<builtin_type>(type);
    if (is_array) {
        variant_array(out, has_dimensions);
    } else if (out.type == builtin_type::variant) {
        // Part 6 §5.2.2.16: only an array may hold Variants.
        fail(status::bad_decoding_error);
    } else {
        decoder body = *this;
        const std::size_t begin = reader_.position();
        skip(out.type);
        if (ok()) {
            out.elements = body.reader_.bytes(reader_.position() - begin);
        }
    }
    leave();
    return out;
}

data_value_view decoder::data_value() noexcept {
    data_value_view out;
    if (!enter()) {
        return out;
    }
    const std::uint8_t mask = reader_.u8();
    if ((mask & 0xC0U) != 0) {
        fail(status::bad_decoding_error);
    }
    if ((mask & 0x01U) != 0) {
        out.has_value = true;
        out.value = variant();
    }
    if ((mask & 0x02U) != 0) {
        out.has_status = true;
        out.status = reader_.u32();
    }
    if ((mask & 0x04U) != 0) {
        out.has_source_timestamp = true;
        out.source_timestamp = reader_.i64();
    }
    if ((mask & 0x10U) != 0) {
        out.has_source_picoseconds = true;
        out.source_picoseconds = reader_.u16();
    }
    if ((mask & 0x08U) != 0) {
        out.has_server_timestamp = true;
        out.server_timestamp = reader_.i64();
    }
    if ((mask & 0x20U) != 0) {
        out.has_server_picoseconds = true;
        out.server_picoseconds = reader_.u16();
    }
    leave();
    return out;
}

// The fields of one level. @return its mask.
std::uint8_t decoder::diagnostic_fields(diagnostic_info_view& out) noexcept {
    out.mask = reader_.u8();
    if ((out.mask & 0x80U) != 0) {
        fail(status::bad_decoding_error);
        return 0;
    }
    out.symbolic_id = (out.mask & 0x01U) != 0 ? reader_.i32() : -1;
    out.namespace_uri = (out.mask & 0x02U) != 0 ? reader_.i32() : -1;
    out.locale = (out.mask & 0x08U) != 0 ? reader_.i32() : -1;
    out.localized_text = (out.mask & 0x04U) != 0 ? reader_.i32() : -1;
    out.additional_info = (out.mask & 0x10U) != 0 ? string() : text_view{};
    out.inner_status = (out.mask & 0x20U) != 0 ? reader_.u32() : 0;
    return out.mask;
}

diagnostic_info_view decoder::diagnostic_info() noexcept {
    constexpr std::uint8_t has_inner = 0x40;
    diagnostic_info_view out;
    if ((diagnostic_fields(out) & has_inner) == 0 || !ok()) {
        return out;
    }
    decoder inner = *this;
    const std::size_t begin = position();
    // The inner info is the last field, so nesting is a loop here and not a recursion.
    for (std::uint32_t level = 1; ok(); ++level) {
        if (level >= limits_->max_nesting_depth) {
            fail(status::bad_encoding_limits_exceeded);
            return out;
        }
        diagnostic_info_view passed;
        if ((diagnostic_fields(passed) & has_inner) == 0) {
            break;
        }
    }
    if (ok()) {
        out.inner = inner.bytes(position() - begin);
    }
    return out;
}

}  // namespace tagferry::opcua
