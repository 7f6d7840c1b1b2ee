#include "gateway/simulation/plant_memory.hpp"

#include "gateway/simulation/demo_plant.hpp"
#include "protocols/s7/types/codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tagferry::gateway {

namespace {

using s7::base_type;

bool is_signed(base_type base) noexcept {
    return base == base_type::short_integer || base == base_type::integer ||
           base == base_type::double_integer || base == base_type::long_integer;
}

// The bits of a number in a type of `size` bytes, in the low bytes.
std::uint64_t bits_of(base_type base, std::size_t size, double value) noexcept {
    if (base == base_type::real) {
        return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    if (base == base_type::long_real) {
        return std::bit_cast<std::uint64_t>(value);
    }
    // Exact up to 2^53, which nothing in a plant passes.
    const double steps = std::ldexp(1.0, static_cast<int>(std::min<std::size_t>(8 * size, 53)));
    const double lowest = is_signed(base) ? -steps / 2 : 0;
    const double whole = std::clamp(std::round(value), lowest, lowest + steps - 1);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
}

double number_of(base_type base, std::size_t size, std::uint64_t bits) noexcept {
    if (base == base_type::real) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    if (base == base_type::long_real) {
        return std::bit_cast<double>(bits);
    }
    if (is_signed(base)) {
        const unsigned unused = static_cast<unsigned>(64 - 8 * size);
        return static_cast<double>(static_cast<std::int64_t>(bits << unused) >>
                                   static_cast<int>(unused));
    }
    return static_cast<double>(bits);
}

}  // namespace

plant_memory::plant_memory(std::size_t plc, s7::plc_memory& memory) : memory_(memory) {
    for (const demo_point& each : demo_points(plc)) {
        points_[each.path] = {each.where, each.type};
    }
}

std::byte* plant_memory::bytes_of(const point& of, std::size_t element) const {
    const auto area = memory_.bytes(of.where.where, of.where.block);
    return area.data() + of.where.byte + element * s7::plc_element_stride(of.type);
}

void plant_memory::set(std::string_view path, double value, std::size_t element) {
    const point& to = points_.at(path);
    std::byte* const bytes = bytes_of(to, element);
    if (to.type.base == base_type::boolean) {
        const auto mask = std::byte{1} << to.where.bit;
        *bytes = value != 0 ? *bytes | mask : *bytes & ~mask;
        return;
    }
    const std::size_t size = s7::plc_element_size(to.type);
    std::uint64_t bits = bits_of(to.type.base, size, value);
    for (std::size_t i = size; i > 0; --i) {
        bytes[i - 1] = static_cast<std::byte>(bits & 0xFFU);
        bits >>= 8U;
    }
}

double plant_memory::get(std::string_view path, std::size_t element) const {
    const point& from = points_.at(path);
    const std::byte* const bytes = bytes_of(from, element);
    if (from.type.base == base_type::boolean) {
        return (*bytes & (std::byte{1} << from.where.bit)) != std::byte{0} ? 1 : 0;
    }
    const std::size_t size = s7::plc_element_size(from.type);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < size; ++i) {
        bits = bits << 8U | std::to_integer<std::uint64_t>(bytes[i]);
    }
    return number_of(from.type.base, size, bits);
}

void plant_memory::set_text(std::string_view path, std::string_view utf8) {
    const point& to = points_.at(path);
    std::array<std::byte, 2 + 3 * s7::max_string_length + 1> slot{};
    const auto length = static_cast<std::uint16_t>(
        std::min(utf8.size(), s7::slot_element_size(to.type) - sizeof(std::uint16_t)));
    std::memcpy(slot.data(), &length, sizeof length);
    std::memcpy(slot.data() + sizeof length, utf8.data(), length);
    std::size_t used = 0;
    s7::encode_value(to.type, slot, {bytes_of(to, 0), s7::plc_size(to.type)}, used);
}

}  // namespace tagferry::gateway
