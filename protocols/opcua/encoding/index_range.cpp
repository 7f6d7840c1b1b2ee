#include "protocols/opcua/encoding/index_range.hpp"

#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace tagferry::opcua {
namespace {

bool read_bound(const char*& at, const char* end, std::uint32_t& out) noexcept {
    // from_chars would take a sign for an unsigned number: none is allowed here.
    if (at == end || *at < '0' || *at > '9') {
        return false;
    }
    const auto [next, error] = std::from_chars(at, end, out);
    at = next;
    return error == std::errc{};
}

struct part {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// The elements of a range that exist in an array of `length`; none when it lies outside.
part inside(const index_range& range, std::uint32_t length) noexcept {
    if (range.dimensions != 1 || range.first >= length) {
        return {};
    }
    const std::uint32_t last = std::min(range.last, length - 1);
    return {range.first, last - range.first + 1};
}

// Bytes of `count` elements in slot form, or npos-like oversize when the bytes end before.
std::size_t slot_bytes(bytes_view from, builtin_type type, std::uint32_t count) noexcept {
    const std::size_t fixed = slot_element_size(type);
    if (fixed != 0) {
        return fixed * count;
    }
    std::size_t at = 0;
    for (; count != 0 && at + 2 <= from.size(); --count) {
        std::uint16_t length = 0;
        std::memcpy(&length, from.data() + at, sizeof length);
        at += std::size_t{2} + length;
    }
    return at;
}

}  // namespace

status_code read_index_range(text_view text, index_range& out) noexcept {
    out = {};
    if (text.empty()) {
        return status::good;
    }
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        std::uint32_t first = 0;
        if (!read_bound(at, end, first)) {
            return status::bad_index_range_invalid;
        }
        std::uint32_t last = first;
        if (at != end && *at == ':') {
            ++at;
            if (!read_bound(at, end, last) || last <= first) {
                return status::bad_index_range_invalid;
            }
        }
        if (out.dimensions == 0) {
            out.first = first;
            out.last = last;
        }
        ++out.dimensions;
        if (at == end) {
            break;
        }
        if (*at != ',') {
            return status::bad_index_range_invalid;
        }
        ++at;
    }
    out.present = true;
    return status::good;
}

status_code write_part(encoder& out, const value_view& value, const index_range& range) noexcept {
    if (value.array_length < 0) {
        return status::bad_index_range_no_data;
    }
    const part wanted = inside(range, static_cast<std::uint32_t>(value.array_length));
    if (wanted.count == 0) {
        return status::bad_index_range_no_data;
    }
    value_view piece{value.type, static_cast<std::int32_t>(wanted.count), {}};
    const std::size_t skipped = slot_bytes(value.bytes, value.type, wanted.first);
    if (skipped > value.bytes.size()) {
        return status::bad_internal_error;
    }
    const bytes_view rest = value.bytes.subspan(skipped);
    piece.bytes = rest.first(std::min(rest.size(), slot_bytes(rest, value.type, wanted.count)));
    out.variant(piece);
    return status::good;
}

status_code write_part(encoder& out, const variant_view& value, const index_range& range,
                       const limits& bounds) noexcept {
    if (!value.is_array || value.array_length < 0) {
        return status::bad_index_range_no_data;
    }
    const part wanted = inside(range, static_cast<std::uint32_t>(value.array_length));
    if (wanted.count == 0) {
        return status::bad_index_range_no_data;
    }
    decoder elements{value.elements, bounds};
    for (std::uint32_t left = wanted.first; left != 0; --left) {
        elements.skip(value.type);
    }
    const std::size_t begin = elements.position();
    for (std::uint32_t left = wanted.count; left != 0; --left) {
        elements.skip(value.type);
    }
    if (!elements.ok()) {
        return status::bad_internal_error;
    }
    out.variant_array_head(value.type, wanted.count);
    out.raw(value.elements.subspan(begin, elements.position() - begin));
    return status::good;
}

}  // namespace tagferry::opcua
