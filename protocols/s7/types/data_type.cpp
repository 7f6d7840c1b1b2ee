#include "protocols/s7/types/data_type.hpp"

#include "protocols/s7/types/text_cursor.hpp"

#include <array>

namespace tagferry::s7 {

namespace {

constexpr std::string_view type_hint = "BOOL, INT, REAL, STRING[20] or ARRAY[0..9] OF INT";
constexpr std::size_t string_header_size = 2;
constexpr std::size_t slot_length_size = 2;
// A character of a one-byte code page takes at most three bytes in UTF-8 (the euro sign).
constexpr std::size_t utf8_bytes_per_character = 3;
constexpr std::uint32_t max_bound = 65535;

struct type_name {
    std::string_view name;
    base_type type;
    std::uint8_t size;  // bytes in the PLC; 0 for STRING
};

// By `base_type`.
constexpr std::array names = {
    type_name{"BOOL", base_type::boolean, 1},
    type_name{"BYTE", base_type::byte, 1},
    type_name{"WORD", base_type::word, 2},
    type_name{"DWORD", base_type::double_word, 4},
    type_name{"LWORD", base_type::long_word, 8},
    type_name{"SINT", base_type::short_integer, 1},
    type_name{"USINT", base_type::unsigned_short_integer, 1},
    type_name{"INT", base_type::integer, 2},
    type_name{"UINT", base_type::unsigned_integer, 2},
    type_name{"DINT", base_type::double_integer, 4},
    type_name{"UDINT", base_type::unsigned_double_integer, 4},
    type_name{"LINT", base_type::long_integer, 8},
    type_name{"ULINT", base_type::unsigned_long_integer, 8},
    type_name{"REAL", base_type::real, 4},
    type_name{"LREAL", base_type::long_real, 8},
    type_name{"CHAR", base_type::character, 1},
    type_name{"STRING", base_type::string, 0},
};

const type_name& entry_of(base_type type) noexcept {
    return names[static_cast<std::size_t>(type)];
}

constexpr std::size_t even(std::size_t size) noexcept {
    return size + size % 2;
}

bool is_name_character(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || c == '_';
}

parse_error parse_bound(text_cursor& cursor, std::int32_t& out) noexcept {
    cursor.skip_blanks();
    const bool negative = cursor.take('-');
    const auto value = cursor.number(0, max_bound);
    if (!value) {
        return cursor.expected("expected an array bound from -65535 to 65535",
                               "ARRAY[0..9] OF INT");
    }
    out = static_cast<std::int32_t>(*value);
    out = negative ? -out : out;
    cursor.skip_blanks();
    return {};
}

parse_error parse_array_head(text_cursor& cursor, data_type& out) noexcept {
    constexpr std::string_view hint = "ARRAY[0..9] OF INT";
    cursor.skip_blanks();
    if (!cursor.take('[')) {
        return cursor.expected("expected '[' after ARRAY", hint);
    }
    if (const auto error = parse_bound(cursor, out.lower_bound)) {
        return error;
    }
    if (!cursor.take("..")) {
        return cursor.expected("expected '..' between the array bounds", hint);
    }
    std::int32_t upper = 0;
    const text_cursor before_upper = cursor;
    if (const auto error = parse_bound(cursor, upper)) {
        return error;
    }
    if (upper < out.lower_bound) {
        return before_upper.expected("expected an upper bound not below the lower one", hint);
    }
    if (cursor.peek() == ',') {
        return cursor.expected("expected ']': arrays of one dimension only", hint);
    }
    if (!cursor.take(']')) {
        return cursor.expected("expected ']' after the array bounds", hint);
    }
    cursor.skip_blanks();
    if (!cursor.take("OF")) {
        return cursor.expected("expected OF after the array bounds", hint);
    }
    cursor.skip_blanks();
    out.array = true;
    out.elements = static_cast<std::uint32_t>(upper - out.lower_bound) + 1;
    return {};
}

parse_error parse_string_length(text_cursor& cursor, data_type& out) noexcept {
    out.string_length = max_string_length;
    if (!cursor.take('[')) {
        return {};
    }
    const auto length = cursor.number(1, max_string_length);
    if (!length) {
        return cursor.expected("expected a string length from 1 to 254", "STRING[20]");
    }
    if (!cursor.take(']')) {
        return cursor.expected("expected ']' after the string length", "STRING[20]");
    }
    out.string_length = static_cast<std::uint8_t>(*length);
    return {};
}

parse_error parse_element(text_cursor& cursor, data_type& out) noexcept {
    for (const type_name& entry : names) {
        text_cursor attempt = cursor;
        if (attempt.take(entry.name) && !is_name_character(attempt.peek())) {
            cursor = attempt;
            out.base = entry.type;
            return entry.type == base_type::string ? parse_string_length(cursor, out)
                                                   : parse_error{};
        }
    }
    return cursor.expected("expected a data type", type_hint);
}

}  // namespace

parse_error parse_data_type(std::string_view text, data_type& out) noexcept {
    text_cursor cursor(text);
    data_type found;
    if (cursor.take("ARRAY")) {
        if (const auto error = parse_array_head(cursor, found)) {
            return error;
        }
    }
    const text_cursor before_element = cursor;
    if (const auto error = parse_element(cursor, found)) {
        return error;
    }
    if (!cursor.at_end()) {
        return cursor.expected("expected the end of the type", type_hint);
    }
    if (plc_size(found) > max_value_bytes) {
        return before_element.expected("expected a value of at most 65535 bytes", type_hint);
    }
    out = found;
    return {};
}

std::string to_string(const data_type& type) {
    std::string text;
    if (type.array) {
        const std::int64_t upper = std::int64_t{type.lower_bound} + type.elements - 1;
        text = "ARRAY[" + std::to_string(type.lower_bound) + ".." + std::to_string(upper) + "] OF ";
    }
    text += entry_of(type.base).name;
    if (type.base == base_type::string) {
        text += "[" + std::to_string(type.string_length) + "]";
    }
    return text;
}

parse_error check_fit(const address& where, const data_type& type) noexcept {
    const bool is_bit = type.base == base_type::boolean;
    if (is_bit && !where.has_bit && !type.array) {
        return {1, "a BOOL needs an address with a bit", "DB1.DBX0.3 or M10.3"};
    }
    if (!is_bit && where.has_bit && where.bit != 0) {
        return {1, "only a BOOL may start at a bit other than 0", "DB1.DBW4 or MW10"};
    }
    constexpr std::size_t address_space = 65536;
    if (where.byte + plc_size(type, where.bit) > address_space) {
        return {1, "the value ends beyond byte 65535", {}};
    }
    return {};
}

std::size_t plc_element_size(const data_type& type) noexcept {
    return type.base == base_type::string ? string_header_size + type.string_length
                                          : entry_of(type.base).size;
}

std::size_t plc_element_stride(const data_type& type) noexcept {
    return type.base == base_type::string ? even(plc_element_size(type)) : plc_element_size(type);
}

std::size_t plc_size(const data_type& type, std::uint8_t bit) noexcept {
    if (type.base == base_type::boolean) {
        return (bit + std::size_t{type.elements} + 7) / 8;
    }
    return plc_element_stride(type) * (type.elements - 1) + plc_element_size(type);
}

std::size_t plc_granule(const data_type& type) noexcept {
    return type.base == base_type::boolean ? 1 : plc_element_stride(type);
}

std::size_t slot_element_size(const data_type& type) noexcept {
    return type.base == base_type::string
               ? even(slot_length_size + utf8_bytes_per_character * type.string_length)
               : entry_of(type.base).size;
}

std::size_t slot_size(const data_type& type) noexcept {
    return slot_element_size(type) * type.elements;
}

}  // namespace tagferry::s7
