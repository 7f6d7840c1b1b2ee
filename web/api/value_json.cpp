#include "web/api/value_json.hpp"

#include "web/http/json_writer.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <optional>
#include <string_view>

namespace tagferry::web {
namespace {

template <typename T>
T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

char* write(char* to, std::string_view text) noexcept {
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

// A 64-bit integer as a string: JavaScript would round it as a number.
template <std::integral T>
char* write_integer_string(char* to, T value) noexcept {
    *to++ = '"';
    to = write_json_number(to, value);
    *to++ = '"';
    return to;
}

// One element of fixed size; at most `longest_element` characters. @return the place behind it.
constexpr std::size_t longest_element = std::max(longest_json_number, longest_json_time) + 2;
char* write_element(char* to, value_type type, const std::byte* at) noexcept {
    switch (type) {
        case value_type::boolean:
            return write(to, load<std::uint8_t>(at) != 0 ? "true" : "false");
        case value_type::int8:
            return write_json_number(to, load<std::int8_t>(at));
        case value_type::uint8:
            return write_json_number(to, load<std::uint8_t>(at));
        case value_type::int16:
            return write_json_number(to, load<std::int16_t>(at));
        case value_type::uint16:
            return write_json_number(to, load<std::uint16_t>(at));
        case value_type::int32:
            return write_json_number(to, load<std::int32_t>(at));
        case value_type::uint32:
            return write_json_number(to, load<std::uint32_t>(at));
        case value_type::int64:
            return write_integer_string(to, load<std::int64_t>(at));
        case value_type::uint64:
            return write_integer_string(to, load<std::uint64_t>(at));
        case value_type::float32:
            return write_json_number(to, load<float>(at));
        case value_type::float64:
            return write_json_number(to, load<double>(at));
        case value_type::date_time:
            return write_json_ticks(to, load<std::int64_t>(at));
        case value_type::none:
        case value_type::string:
        case value_type::byte_string:
            return write(to, "null");
    }
    return to;
}

void put_element(output_chain& out, value_type type, const std::byte* at) noexcept {
    if (char* const to = out.claim(longest_element)) {
        const char* const end = write_element(to, type, at);
        out.unclaim(longest_element - static_cast<std::size_t>(end - to));
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

char* write_time_or_null(char* to, transport::wall_time_ns time) noexcept {
    return time == 0 ? write(to, "null") : write_json_time(to, time);
}

// The row nearly all are: a good number, of a tag whose path needs no escapes.
constexpr std::size_t around_path = 256;
constexpr std::size_t longest_plain_path = 1024 - around_path;
constexpr std::size_t longest_status_name = 40;
static_assert(around_path >= 88 + longest_element + longest_status_name + 2 * longest_json_time);
bool is_plain_row(const value_row& row) noexcept {
    const std::size_t size = element_size(row.value.type);
    return is_good(row.status) && row.reason.empty() && row.value.array_length == scalar &&
           size != 0 && row.value.bytes.size() >= size && row.path.size() <= longest_plain_path &&
           row.status_name.size() <= longest_status_name &&
           plain_json_size(row.path) == row.path.size();
}

void put_plain_row(output_chain& out, const value_row& row) noexcept {
    const std::size_t room = around_path + row.path.size();
    char* const begin = out.claim(room);
    if (begin == nullptr) {
        return;
    }
    char* at = write(begin, "{\"path\":\"");
    at = write(at, row.path);
    at = write(at, "\",\"value\":");
    at = write_element(at, row.value.type, row.value.bytes.data());
    at = write(at, ",\"status\":\"");
    at = write(at, row.status_name);
    at = write(at, "\",\"reason\":null,\"source_timestamp\":");
    const char* const source = at;
    at = write_time_or_null(at, row.source_timestamp);
    const std::string_view source_text(source, static_cast<std::size_t>(at - source));
    at = write(at, ",\"server_timestamp\":");
    at = row.server_timestamp == row.source_timestamp
             ? write(at, source_text)
             : write_time_or_null(at, row.server_timestamp);
    *at++ = '}';
    out.unclaim(room - static_cast<std::size_t>(at - begin));
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
    if (is_plain_row(row)) {
        put_plain_row(out, row);
        return;
    }
    out.put("{\"path\":");
    put_json_string(out, row.path);
    out.put(",\"value\":");
    put_json_value(out, is_bad(row.status) ? value_view{} : row.value);
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
