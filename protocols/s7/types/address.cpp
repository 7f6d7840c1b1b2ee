#include "protocols/s7/types/address.hpp"

#include "protocols/s7/types/text_cursor.hpp"

namespace tagferry::s7 {

namespace {

constexpr std::string_view block_hint = "DB1.DBX0.3, DB1.DBB4, DB1.DBW4 or DB1.DBD4";
constexpr std::string_view area_hint = "M10.3, MB10, MW10 or MD10";
constexpr std::string_view any_hint = "DB1.DBW4, MW10, I0.0 or QB4";
constexpr std::uint32_t max_block = 65535;
constexpr std::uint32_t max_byte = 65535;
constexpr std::uint32_t max_bit = 7;

/// `<byte>` or `<byte>.<bit>`, then the end of the text.
parse_error parse_offset(text_cursor& cursor, bool bit_wanted, std::string_view hint,
                         address& out) noexcept {
    const auto byte = cursor.number(0, max_byte);
    if (!byte) {
        return cursor.expected("expected a byte number from 0 to 65535", hint);
    }
    out.byte = *byte;
    out.has_bit = bit_wanted;
    if (bit_wanted) {
        if (!cursor.take('.')) {
            return cursor.expected("expected '.' and a bit number", hint);
        }
        const auto bit = cursor.number(0, max_bit);
        if (!bit) {
            return cursor.expected("expected a bit number from 0 to 7", hint);
        }
        out.bit = static_cast<std::uint8_t>(*bit);
    }
    if (!cursor.at_end()) {
        return cursor.expected(bit_wanted ? "expected the end of the address after the bit"
                                          : "expected the end of the address after the byte",
                               hint);
    }
    return {};
}

bool is_width(char c) noexcept {
    return c == 'B' || c == 'W' || c == 'D';
}

parse_error parse_block(text_cursor& cursor, address& out) noexcept {
    const auto number = cursor.number(1, max_block);
    if (!number) {
        return cursor.expected("expected a DB number from 1 to 65535", block_hint);
    }
    out.where = area::data_block;
    out.block = static_cast<std::uint16_t>(*number);
    if (!cursor.take('.')) {
        return cursor.expected("expected '.' after the DB number", block_hint);
    }
    if (!cursor.take("DB") || (cursor.peek() != 'X' && !is_width(cursor.peek()))) {
        return cursor.expected("expected DBX, DBB, DBW or DBD", block_hint);
    }
    const bool bit_wanted = cursor.peek() == 'X';
    cursor.advance();
    return parse_offset(cursor, bit_wanted, block_hint, out);
}

bool area_of(char letter, area& out) noexcept {
    switch (letter) {
        case 'I':
        case 'E':
            out = area::input;
            return true;
        case 'Q':
        case 'A':
            out = area::output;
            return true;
        case 'M':
            out = area::memory;
            return true;
        default:
            return false;
    }
}

}  // namespace

parse_error parse_address(std::string_view text, address& out) noexcept {
    text_cursor cursor(text);
    address found;
    cursor.take('%');
    parse_error error;
    if (cursor.take("DB")) {
        error = parse_block(cursor, found);
    } else if (area_of(cursor.peek(), found.where)) {
        cursor.advance();
        const bool width = is_width(cursor.peek());
        if (width || cursor.peek() == 'X') {
            cursor.advance();
        }
        error = parse_offset(cursor, !width, area_hint, found);
    } else {
        error = cursor.expected("expected DB, I, Q or M (or E, A)", any_hint);
    }
    if (!error) {
        out = found;
    }
    return error;
}

std::string to_string(const address& value) {
    std::string text;
    switch (value.where) {
        case area::input:
            text = "I";
            break;
        case area::output:
            text = "Q";
            break;
        case area::memory:
            text = "M";
            break;
        default:
            text = "DB" + std::to_string(value.block) + ".DB";
            if (value.has_bit) {
                text += "X";
            }
            break;
    }
    if (!value.has_bit) {
        text += "B";
    }
    text += std::to_string(value.byte);
    if (value.has_bit) {
        text += "." + std::to_string(value.bit);
    }
    return text;
}

}  // namespace tagferry::s7
