// ReadValueId of Part 4 §7.29: what Read reads and what a monitored item monitors.
#pragma once

#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

/// Bytes of one at least: NodeId, attribute id, index range, data encoding.
inline constexpr std::size_t smallest_read_value_id = 2 + 4 + 4 + 6;

inline constexpr std::uint32_t value_attribute = static_cast<std::uint32_t>(attribute::value);

/// How nearly every item goes on after its NodeId: the Value, no range, no encoding.
inline constexpr std::array<std::byte, 14> plain_value = [] {
    std::array<std::byte, 14> form{};
    form[0] = static_cast<std::byte>(value_attribute);
    for (const std::size_t at : {4U, 5U, 6U, 7U, 10U, 11U, 12U, 13U}) {
        form[at] = std::byte{0xFF};
    }
    return form;
}();

/// Views of the request.
struct read_value_id {
    node_id_view node{};
    bool is_plain_value = false;
    std::uint32_t attribute_id = value_attribute;
    text_view range{};
    qualified_name_view encoding{};
};

inline read_value_id read_value_id_of(decoder& in) noexcept {
    read_value_id item;
    item.node = in.node_id();
    item.is_plain_value = in.skip_exactly(plain_value);
    if (item.is_plain_value) {
        return item;
    }
    item.attribute_id = in.u32();
    item.range = in.string();
    item.encoding = in.qualified_name();
    return item;
}

/// DataEncoding applies to structures in the Value attribute; naming the binary one elsewhere does
/// no harm (E64).
inline status_code check_encoding(const read_value_id& item) noexcept {
    if (item.encoding.name.empty()) {
        return status::good;
    }
    if (item.attribute_id != value_attribute) {
        return status::bad_data_encoding_invalid;
    }
    if (item.encoding.namespace_index == 0 && item.encoding.name == "Default Binary") {
        return status::good;
    }
    return item.encoding.namespace_index == 0 &&
                   (item.encoding.name == "Default XML" || item.encoding.name == "Default JSON")
               ? status::bad_data_encoding_unsupported
               : status::bad_data_encoding_invalid;
}

}  // namespace tagferry::opcua
