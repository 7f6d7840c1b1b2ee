#include "protocols/s7/types/codec.hpp"

#include "protocols/s7/types/code_page.hpp"
#include "transport/bytes/endian.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tagferry::s7 {

namespace {

constexpr std::size_t string_header_size = 2;

/// Changes byte order element by element; the same both ways.
template <class Bits>
void reverse_elements(std::span<const std::byte> from, std::span<std::byte> to,
                      std::size_t elements) noexcept {
    for (std::size_t i = 0; i < elements; ++i) {
        const auto value = transport::load<Bits>(from.data() + i * sizeof(Bits), std::endian::big);
        transport::store(to.data() + i * sizeof(Bits), value, std::endian::native);
    }
}

/// Bytes of an element of types that only differ in the order of their bytes on both sides, by
/// `base_type`; 0 for BOOL and STRING. A table, because a scan passes here for every value.
constexpr std::array<std::uint8_t, 17> scalar_sizes = {0, 1, 2, 4, 8, 1, 1, 2, 2,
                                                       4, 4, 8, 8, 4, 8, 1, 0};
static_assert(scalar_sizes[static_cast<std::size_t>(base_type::boolean)] == 0 &&
              scalar_sizes[static_cast<std::size_t>(base_type::long_real)] == 8 &&
              static_cast<std::size_t>(base_type::string) + 1 == scalar_sizes.size());

std::size_t scalar_size(base_type type) noexcept {
    return scalar_sizes[static_cast<std::size_t>(type)];
}

void convert_scalars(std::size_t size, std::size_t elements, std::span<const std::byte> from,
                     std::span<std::byte> to) noexcept {
    switch (size) {
        case 2:
            reverse_elements<std::uint16_t>(from, to, elements);
            break;
        case 4:
            reverse_elements<std::uint32_t>(from, to, elements);
            break;
        case 8:
            reverse_elements<std::uint64_t>(from, to, elements);
            break;
        default:
            std::memcpy(to.data(), from.data(), elements);
            break;
    }
}

void decode_bits(const data_type& type, std::uint8_t bit, std::span<const std::byte> plc,
                 std::span<std::byte> slot) noexcept {
    for (std::size_t i = 0; i < type.elements; ++i) {
        const std::size_t at = bit + i;
        slot[i] = (plc[at / 8] >> (at % 8)) & std::byte{1};
    }
}

/// One string. A fresh data block has zeros or whatever was downloaded, so both lengths are
/// judged: what can be shown is shown, and flagged.
decode_result decode_string(std::span<const std::byte> plc, std::uint8_t declared,
                            std::span<std::byte> slot, code_page page) noexcept {
    const auto maximum = std::to_integer<std::uint8_t>(plc[0]);
    const auto current = std::to_integer<std::uint8_t>(plc[1]);
    const bool valid = maximum != 0 && maximum <= declared && current <= maximum;
    const std::size_t characters = maximum == 0 ? 0 : std::min({current, maximum, declared});
    const std::size_t size = to_utf8(plc.subspan(string_header_size, characters),
                                     slot.subspan(sizeof(std::uint16_t)), page);
    transport::store(slot.data(), static_cast<std::uint16_t>(size), std::endian::native);
    return valid ? decode_result::good : decode_result::uncertain_substitute;
}

encode_result encode_string(std::span<const std::byte> slot, std::uint8_t declared,
                            std::span<std::byte> plc, std::size_t& bytes_used,
                            code_page page) noexcept {
    const std::size_t size = transport::load<std::uint16_t>(slot.data(), std::endian::native);
    if (size > slot.size() - sizeof(std::uint16_t)) {
        return encode_result::bad_format;
    }
    bool too_long = false;
    const auto characters = from_utf8(slot.subspan(sizeof(std::uint16_t), size),
                                      plc.subspan(string_header_size, declared), page, too_long);
    if (!characters) {
        return too_long ? encode_result::too_long : encode_result::not_mappable;
    }
    plc[0] = std::byte{declared};
    plc[1] = static_cast<std::byte>(*characters);
    bytes_used = string_header_size + *characters;
    return encode_result::good;
}

void encode_bits(const data_type& type, std::span<const std::byte> slot,
                 std::span<std::byte> plc) noexcept {
    std::fill_n(plc.begin(), plc_size(type), std::byte{0});
    for (std::size_t i = 0; i < type.elements; ++i) {
        if (slot[i] != std::byte{0}) {
            plc[i / 8] |= std::byte{1} << (i % 8);
        }
    }
}

encode_result encode_strings(const data_type& type, std::span<const std::byte> slot,
                             std::span<std::byte> plc, std::size_t& bytes_used,
                             code_page page) noexcept {
    const std::size_t stride = plc_element_stride(type);
    const std::size_t slot_stride = slot_element_size(type);
    std::size_t used = 0;
    for (std::size_t i = 0; i < type.elements; ++i) {
        const auto result = encode_string(slot.subspan(i * slot_stride, slot_stride),
                                          type.string_length, plc.subspan(i * stride), used, page);
        if (result != encode_result::good) {
            return result;
        }
    }
    bytes_used = (type.elements - 1) * stride + used;
    return encode_result::good;
}

}  // namespace

decode_result decode_value(const data_type& type, std::uint8_t bit, std::span<const std::byte> plc,
                           std::span<std::byte> slot, code_page page) noexcept {
    if (const std::size_t size = scalar_size(type.base); size != 0) {
        const std::size_t all = size * type.elements;
        if (plc.size() < all || slot.size() < all) {
            return decode_result::bad_format;
        }
        convert_scalars(size, type.elements, plc, slot);
        return decode_result::good;
    }
    if (plc.size() < plc_size(type, bit) || slot.size() < slot_size(type)) {
        return decode_result::bad_format;
    }
    if (type.base == base_type::boolean) {
        decode_bits(type, bit, plc, slot);
        return decode_result::good;
    }
    auto result = decode_result::good;
    const std::size_t stride = plc_element_stride(type);
    const std::size_t slot_stride = slot_element_size(type);
    for (std::size_t i = 0; i < type.elements; ++i) {
        const auto one =
            decode_string(plc.subspan(i * stride, plc_element_size(type)), type.string_length,
                          slot.subspan(i * slot_stride, slot_stride), page);
        result = one == decode_result::good ? result : one;
    }
    return result;
}

encode_result encode_value(const data_type& type, std::span<const std::byte> slot,
                           std::span<std::byte> plc, std::size_t& bytes_used,
                           code_page page) noexcept {
    bytes_used = 0;
    if (plc.size() < plc_size(type) || slot.size() < slot_size(type)) {
        return encode_result::bad_format;
    }
    if (type.base == base_type::string) {
        return encode_strings(type, slot, plc, bytes_used, page);
    }
    if (type.base == base_type::boolean) {
        encode_bits(type, slot, plc);
    } else {
        convert_scalars(scalar_size(type.base), type.elements, slot, plc);
    }
    bytes_used = plc_size(type);
    return encode_result::good;
}

}  // namespace tagferry::s7
