#include "web/api/value_json.hpp"

#include "web/http/json_writer.hpp"

#include <cstring>
#include <optional>

namespace tagferry::web {
namespace {

template <typename T>
T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// One element of fixed size.
void put_element(output_chain& out, value_type type, const std::byte* at) noexcept {
    switch (type) {
        case value_type::boolean:
            return put_json_boolean(out, load<std::uint8_t>(at) != 0);
        case value_type::int8:
            return put_json_number(out, load<std::int8_t>(at));
        case value_type::uint8:
            return put_json_number(out, load<std::uint8_t>(at));
        case value_type::int16:
            return put_json_number(out, load<std::int16_t>(at));
        case value_type::uint16:
            return put_json_number(out, load<std::uint16_t>(at));
        case value_type::int32:
            return put_json_number(out, load<std::int32_t>(at));
        case value_type::uint32:
            return put_json_number(out, load<std::uint32_t>(at));
        case value_type::int64:
            return put_json_integer_string(out, load<std::int64_t>(at));
        case value_type::uint64:
            return put_json_integer_string(out, load<std::uint64_t>(at));
        case value_type::float32:
            return put_json_number(out, load<float>(at));
        case value_type::float64:
            return put_json_number(out, load<double>(at));
        case value_type::date_time:
            return put_json_ticks(out, load<std::int64_t>(at));
        case value_type::none:
        case value_type::string:
        case value_type::byte_string:
            return out.put("null");
    }
}

// The bytes of the element at the front, with its count; nothing when they are not all there.
std::optional<std::span<const std::byte>> counted_bytes(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < sizeof(std::uint16_t)) {
        return std::nullopt;
    }
    const std::size_t size = load<std::uint16_t>(bytes.data());
    if (bytes.size() - sizeof(std::uint16_t) < size) {
        return std::nullopt;
    }
    return bytes.subspan(sizeof(std::uint16_t), size);
}

bool has_counted_elements(std::span<const std::byte> bytes, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const auto element = counted_bytes(bytes);
        if (!element) {
            return false;
        }
        bytes = bytes.subspan(sizeof(std::uint16_t) + element->size());
    }
    return true;
}

void put_counted(output_chain& out, value_type type, std::span<const std::byte> bytes) noexcept {
    if (type == value_type::byte_string) {
        put_json_base64(out, bytes);
    } else {
        put_json_string(out, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
}

void put_elements(output_chain& out, const value_view& value, std::size_t count) noexcept {
    const std::size_t size = element_size(value.type);
    std::span<const std::byte> rest = value.bytes;
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) {
            out.put(',');
        }
        if (size != 0) {
            put_element(out, value.type, rest.data());
            rest = rest.subspan(size);
        } else {
            const auto bytes = *counted_bytes(rest);
            put_counted(out, value.type, bytes);
            rest = rest.subspan(sizeof(std::uint16_t) + bytes.size());
        }
        if (!out.ok()) {
            return;
        }
    }
}

void put_field(output_chain& out, std::string_view name, std::string_view text) noexcept {
    out.put(name);
    put_json_string_or_null(out, text);
}

template <std::integral T>
void put_field(output_chain& out, std::string_view name, T number) noexcept {
    out.put(name);
    put_json_number(out, number);
}

std::string_view access_of(const tag_row& row) noexcept {
    if (row.readable) {
        return row.writable ? "read_write" : "read";
    }
    return row.writable ? "write" : "none";
}

}  // namespace

void put_json_value(output_chain& out, const value_view& value) noexcept {
    const bool is_array = value.array_length >= 0;
    const std::size_t count = is_array ? static_cast<std::size_t>(value.array_length) : 1;
    const std::size_t size = element_size(value.type);
    const bool whole =
        value.type != value_type::none &&
        (size != 0 ? value.bytes.size() / size >= count : has_counted_elements(value.bytes, count));
    if (!whole) {
        out.put("null");
        return;
    }
    if (is_array) {
        out.put('[');
    }
    put_elements(out, value, count);
    if (is_array) {
        out.put(']');
    }
}

void put_json_row(output_chain& out, const value_row& row) noexcept {
    out.put("{\"path\":");
    put_json_string(out, row.path);
    out.put(",\"value\":");
    put_json_value(out, row.value);
    out.put(",\"status\":\"");
    out.put(row.status_name);
    put_field(out, "\",\"reason\":", row.reason);
    out.put(",\"source_timestamp\":");
    put_json_time_or_null(out, row.source_timestamp);
    out.put(",\"server_timestamp\":");
    put_json_time_or_null(out, row.server_timestamp);
    if (row.has_last_good && !is_good(row.status)) {
        out.put(",\"last_good\":{\"value\":");
        put_json_value(out, row.last_good);
        out.put(",\"source_timestamp\":");
        put_json_time_or_null(out, row.last_good_timestamp);
        out.put('}');
    }
    out.put('}');
}

void put_json_row(output_chain& out, const tag_row& row) noexcept {
    out.put("{\"path\":");
    put_json_string(out, row.path);
    put_field(out, ",\"node_id\":", row.node_id);
    put_field(out, ",\"type\":", row.type);
    put_field(out, ",\"address\":", row.address);
    put_field(out, ",\"access\":", access_of(row));
    put_field(out, ",\"scan_class\":", row.scan_class);
    put_field(out, ",\"unit\":", row.unit);
    put_field(out, ",\"description\":", row.description);
    out.put('}');
}

void put_json_row(output_chain& out, const node_row& row) noexcept {
    out.put("{\"path\":");
    put_json_string(out, row.path);
    out.put(",\"name\":");
    put_json_string(out, row.name);
    put_field(out, ",\"kind\":", name_of(row.kind));
    put_field(out, ",\"node_id\":", row.node_id);
    put_field(out, ",\"type\":", row.type);
    out.put(",\"has_children\":");
    put_json_boolean(out, row.has_children);
    out.put('}');
}

void put_json_row(output_chain& out, const connection_row& row) noexcept {
    out.put("{\"name\":");
    put_json_string(out, row.name);
    put_field(out, ",\"protocol\":", row.protocol);
    put_field(out, ",\"endpoint\":", row.endpoint);
    put_field(out, ",\"state\":", row.state);
    out.put(",\"up\":");
    put_json_boolean(out, row.up);
    put_field(out, ",\"reason\":", row.reason);
    out.put(",\"since\":");
    put_json_time_or_null(out, row.since);
    out.put(",\"next_attempt\":");
    put_json_time_or_null(out, row.next_attempt);
    put_field(out, ",\"connects\":", row.connects);
    put_field(out, ",\"connect_failures\":", row.connect_failures);
    put_field(out, ",\"requests\":", row.requests);
    put_field(out, ",\"request_failures\":", row.request_failures);
    put_field(out, ",\"overruns\":", row.overruns);
    put_field(out, ",\"pdu_size\":", row.pdu_size);
    put_field(out, ",\"window\":", row.window);
    put_field(out, ",\"tags\":{\"total\":", row.tags);
    put_field(out, ",\"good\":", row.tags_good);
    put_field(out, ",\"uncertain\":", row.tags_uncertain);
    put_field(out, ",\"bad\":", row.tags_bad);
    out.put("}}");
}

}  // namespace tagferry::web
