// Reads OPC UA Binary (Part 6 §5.2). Sticky error, limits from outside, views instead of copies.
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "transport/bytes/reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tagferry::opcua {

/// Every length is checked against its limit and against the bytes left before it is used; after
/// the first error every read gives zero or an empty view and `status()` says why.
class decoder {
  public:
    /// @param bytes must outlive the decoder and every view it gave.
    decoder(bytes_view bytes, const limits& bounds) noexcept : reader_(bytes), limits_(&bounds) {}

    bool boolean() noexcept { return reader_.u8() != 0; }
    std::uint8_t u8() noexcept { return reader_.u8(); }
    std::uint16_t u16() noexcept { return reader_.u16(); }
    std::uint32_t u32() noexcept { return reader_.u32(); }
    std::int32_t i32() noexcept { return reader_.i32(); }
    std::int64_t i64() noexcept { return reader_.i64(); }
    double float64() noexcept { return reader_.read<double>(); }

    /// Length -1 gives a null string, 0 an empty one; other negatives are an error (E60).
    text_view string() noexcept;
    bytes_view byte_string() noexcept;
    /// The forms that requests are full of are read here; others, and errors, out of line.
    node_id_view node_id() noexcept {
        constexpr std::size_t fixed = 7;  // form, namespace, then a number or a length
        const bytes_view rest = reader_.rest();
        if (rest.size() < fixed) {
            return node_id_otherwise();
        }
        const auto form = std::to_integer<std::uint8_t>(rest[0]);
        const auto space = transport::load<std::uint16_t>(rest.data() + 1, std::endian::little);
        const auto number = transport::load<std::uint32_t>(rest.data() + 3, std::endian::little);
        if (form == 2) {
            reader_.skip(fixed);
            return {space, node_id_kind::numeric, number, {}};
        }
        if (form == 1) {
            constexpr std::size_t short_form = 4;  // form, namespace, number
            reader_.skip(short_form);
            return {std::to_integer<std::uint8_t>(rest[1]),
                    node_id_kind::numeric,
                    transport::load<std::uint16_t>(rest.data() + 2, std::endian::little),
                    {}};
        }
        const bool text = form == 3 && number <= limits_->max_string_length;
        if ((text || (form == 5 && number <= limits_->max_byte_string_length)) &&
            number <= rest.size() - fixed) {
            reader_.skip(fixed + number);
            return {space,
                    text ? node_id_kind::string : node_id_kind::opaque,
                    0,
                    {reinterpret_cast<const char*>(rest.data()) + fixed, number}};
        }
        return node_id_otherwise();
    }
    expanded_node_id_view expanded_node_id() noexcept;
    qualified_name_view qualified_name() noexcept;
    localized_text_view localized_text() noexcept;
    extension_object_view extension_object() noexcept;
    variant_view variant() noexcept;
    data_value_view data_value() noexcept;
    diagnostic_info_view diagnostic_info() noexcept;
    void skip_diagnostic_info() noexcept { diagnostic_info(); }
    guid_view guid() noexcept { return {reader_.bytes(16)}; }
    xml_view xml_element() noexcept { return {byte_string()}; }

    /// The length of an array whose elements take at least `smallest_element` bytes each, so that
    /// a count that cannot be true is refused before anything is done with it. A null array
    /// (-1) gives 0.
    std::uint32_t array_length(std::size_t smallest_element) noexcept;
    /// As above; -1 stays -1.
    std::int32_t nullable_array_length(std::size_t smallest_element) noexcept;

    /// Passes over the next bytes when they are exactly `expected`; else stays where it is.
    template <std::size_t Count>
    bool skip_exactly(const std::array<std::byte, Count>& expected) noexcept {
        static_assert(Count >= 8 && Count <= 16);
        const bytes_view rest = reader_.rest();
        if (rest.size() < Count) {
            return false;
        }
        // Two words that overlap.
        constexpr std::size_t second = Count - 8;
        const auto word = [](const std::byte* at) {
            return transport::load<std::uint64_t>(at, std::endian::little);
        };
        if (word(rest.data()) != word(expected.data()) ||
            word(rest.data() + second) != word(expected.data() + second)) {
            return false;
        }
        reader_.skip(Count);
        return true;
    }
    /// What has not been read, as a view; does not move on.
    bytes_view rest() const noexcept { return reader_.rest(); }
    /// Passes over bytes that `rest` showed.
    void skip_bytes(std::size_t count) noexcept { reader_.skip(count); }

    /// Reads one element of any built-in type, checking it, and calls `use` with its value or view:
    /// once, also after an error; not at all for `null` and for what is no type, which is an error.
    template <typename Use>
    void element(builtin_type type, Use&& use);
    /// Passes over one element of any built-in type, checking it.
    void skip(builtin_type type) noexcept;
    void skip_strings() noexcept;  ///< passes over an array of String

    void fail(status_code why) noexcept;
    bool ok() const noexcept { return reader_.ok(); }
    /// BadDecodingError or BadEncodingLimitsExceeded after an error, else Good.
    status_code status() const noexcept {
        return reader_.ok() ? status::good
                            : (status_ == status::good ? status::bad_decoding_error : status_);
    }
    std::size_t position() const noexcept { return reader_.position(); }
    std::size_t remaining() const noexcept { return reader_.remaining(); }
    bytes_view bytes(std::size_t count) noexcept { return reader_.bytes(count); }

  private:
    bool enter() noexcept;
    node_id_view node_id_otherwise() noexcept;
    node_id_view node_id_of_form(std::uint8_t form) noexcept;
    void leave() noexcept { --depth_; }
    void variant_array(variant_view& out, bool has_dimensions) noexcept;
    std::uint8_t diagnostic_fields(diagnostic_info_view& out) noexcept;
    void elements(builtin_type type, std::uint32_t count) noexcept;

    transport::little_endian_reader reader_;
    const limits* limits_;
    std::uint32_t depth_ = 0;
    status_code status_ = status::good;
};

template <typename Use>
void decoder::element(builtin_type type, Use&& use) {
    switch (type) {
        case builtin_type::null:
            return;
        case builtin_type::boolean:
            return use(boolean());
        case builtin_type::sbyte:
            return use(reader_.read<std::int8_t>());
        case builtin_type::byte:
            return use(u8());
        case builtin_type::int16:
            return use(reader_.read<std::int16_t>());
        case builtin_type::uint16:
            return use(u16());
        case builtin_type::int32:
            return use(i32());
        case builtin_type::uint32:
        case builtin_type::status:
            return use(u32());
        case builtin_type::int64:
        case builtin_type::date_time:
            return use(i64());
        case builtin_type::uint64:
            return use(reader_.read<std::uint64_t>());
        case builtin_type::float32:
            return use(reader_.read<float>());
        case builtin_type::float64:
            return use(float64());
        case builtin_type::string:
            return use(string());
        case builtin_type::guid:
            return use(guid());
        case builtin_type::byte_string:
            return use(byte_string());
        case builtin_type::xml_element:
            return use(xml_element());
        case builtin_type::node_id:
            return use(node_id());
        case builtin_type::expanded_node_id:
            return use(expanded_node_id());
        case builtin_type::qualified_name:
            return use(qualified_name());
        case builtin_type::localized_text:
            return use(localized_text());
        case builtin_type::extension_object:
            return use(extension_object());
        case builtin_type::data_value:
            return use(data_value());
        case builtin_type::variant:
            return use(variant());
        case builtin_type::diagnostic_info:
            return use(diagnostic_info());
    }
    fail(status::bad_decoding_error);
}

}  // namespace tagferry::opcua
