// Fixed-width loads and stores in a stated byte order, at any alignment.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tagferry::transport {

template <std::size_t Size>
struct unsigned_of_size;
template <>
struct unsigned_of_size<1> {
    using type = std::uint8_t;
};
template <>
struct unsigned_of_size<2> {
    using type = std::uint16_t;
};
template <>
struct unsigned_of_size<4> {
    using type = std::uint32_t;
};
template <>
struct unsigned_of_size<8> {
    using type = std::uint64_t;
};

/// Integers and IEEE 754 floats of 1, 2, 4 or 8 bytes.
template <typename T>
concept wire_scalar = (std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool> &&
                      (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

template <std::unsigned_integral T>
constexpr T reverse_bytes(T value) noexcept {
    if constexpr (sizeof(T) == 1) {
        return value;
    } else if constexpr (sizeof(T) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bswap32(value);
    } else {
        return __builtin_bswap64(value);
    }
}

/// Reads a T whose first byte is at `from`, in byte order `order`. `sizeof(T)` bytes must be there.
template <wire_scalar T>
T load(const std::byte* from, std::endian order) noexcept {
    using bits = typename unsigned_of_size<sizeof(T)>::type;
    bits raw;
    std::memcpy(&raw, from, sizeof raw);
    if (order != std::endian::native) {
        raw = reverse_bytes(raw);
    }
    return std::bit_cast<T>(raw);
}

/// Writes `value` to the `sizeof(T)` bytes at `to`, in byte order `order`.
template <wire_scalar T>
void store(std::byte* to, T value, std::endian order) noexcept {
    using bits = typename unsigned_of_size<sizeof(T)>::type;
    bits raw = std::bit_cast<bits>(value);
    if (order != std::endian::native) {
        raw = reverse_bytes(raw);
    }
    std::memcpy(to, &raw, sizeof raw);
}

}  // namespace tagferry::transport
