// Decoded built-in types as views into the message they came from (Part 6 §5.2.2).
#pragma once

#include "protocols/opcua/backend/value_view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::opcua {

/// A String. Null and empty differ on the wire: null has a null `data()`.
using text_view = std::string_view;
/// A ByteString; null has a null `data()`.
using bytes_view = std::span<const std::byte>;

enum class node_id_kind : std::uint8_t { numeric = 0, string = 1, guid = 2, opaque = 3 };

struct node_id_view {
    std::uint16_t namespace_index = 0;
    node_id_kind kind = node_id_kind::numeric;
    std::uint32_t number = 0;  ///< of a numeric id
    /// Of the other kinds: UTF-8 for a string, 16 bytes for a GUID, the bytes of an opaque id.
    std::string_view bytes{};

    /// The null NodeId of Part 3 §8.2.4: namespace 0 and an identifier of zero or nothing.
    constexpr bool is_null() const noexcept {
        return namespace_index == 0 &&
               (kind == node_id_kind::numeric ? number == 0 : bytes.empty());
    }
};

struct expanded_node_id_view {
    node_id_view id{};
    text_view namespace_uri{};
    std::uint32_t server_index = 0;
};

struct qualified_name_view {
    std::uint16_t namespace_index = 0;
    text_view name{};
};

struct localized_text_view {
    text_view locale{};
    text_view text{};
};

/// A Guid: 16 bytes as they are encoded.
struct guid_view {
    bytes_view bytes{};
};

/// An XmlElement: UTF-8, null like a ByteString.
struct xml_view {
    bytes_view text{};
};

/// A DiagnosticInfo (Part 6 §5.2.2.12). Numbers are indexes into the StringTable of its response.
struct diagnostic_info_view {
    std::uint8_t mask = 0;  ///< bits of the encoding: which fields are there
    std::int32_t symbolic_id = -1;
    std::int32_t namespace_uri = -1;
    std::int32_t locale = -1;
    std::int32_t localized_text = -1;
    text_view additional_info{};
    status_code inner_status = 0;
    bytes_view inner{};  ///< the inner DiagnosticInfo, checked and left encoded; empty: none
};

struct extension_object_view {
    node_id_view type{};        ///< of the encoding, not of the data type
    std::uint8_t encoding = 0;  ///< 0: no body, 1: binary, 2: XML
    bytes_view body{};
};

/// A Variant whose elements were checked and left encoded.
struct variant_view {
    builtin_type type = builtin_type::null;
    bool is_array = false;
    std::int32_t array_length = -1;  ///< -1 for a scalar or a null array
    bytes_view elements{};           ///< encoded, one after the other
    bytes_view dimensions{};         ///< Int32 each, encoded; empty unless present
};

struct data_value_view {
    bool has_value = false;
    variant_view value{};
    status_code status = 0;
    std::int64_t source_timestamp = 0;  ///< DateTime ticks; 0 when absent
    std::int64_t server_timestamp = 0;
    std::uint16_t source_picoseconds = 0;  ///< in units of 10 ps; 0 when absent
    std::uint16_t server_picoseconds = 0;
    bool has_status = false;
    bool has_source_timestamp = false;
    bool has_server_timestamp = false;
    bool has_source_picoseconds = false;
    bool has_server_picoseconds = false;
};

}  // namespace tagferry::opcua
