// Namespaces 0 and 2 as read-only tables with an index.
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/spec/standard_tables.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::opcua::standard {

inline constexpr std::uint32_t no_row = 0xFFFFFFFF;

/// The row of a node, or `no_row`.
std::uint32_t find(std::uint16_t namespace_index, std::uint32_t number) noexcept;

/// A string of the tables by number; static storage.
std::string_view text(std::uint16_t number) noexcept;

/// The encoded Variant of a row's static value or, for a data type, its definition; empty: none.
bytes_view value(std::uint32_t row) noexcept;

std::span<const std::uint32_t> references(std::uint32_t row) noexcept;

constexpr std::uint16_t target(std::uint32_t reference) noexcept {
    return static_cast<std::uint16_t>(reference & 0xFFFFU);
}
constexpr std::uint8_t type(std::uint32_t reference) noexcept {
    return static_cast<std::uint8_t>((reference >> 16U) & 0xFFU);
}
constexpr bool is_forward(std::uint32_t reference) noexcept {
    return ((reference >> 24U) & 1U) != 0;
}

/// Numbers of reference types that the code makes references of itself.
struct reference_numbers {
    std::uint8_t organizes;
    std::uint8_t has_component;
    std::uint8_t has_type_definition;
    std::uint8_t hierarchical;
    std::uint8_t has_property;
};
const reference_numbers& well_known() noexcept;

inline constexpr std::uint8_t no_type = 255;
/// The number of the reference type in this row, or `no_type` when the row is none.
std::uint8_t reference_type_of(std::uint32_t row) noexcept;
/// True when `type` is `ancestor` or derived from it.
bool is_subtype(std::uint8_t type, std::uint8_t ancestor) noexcept;

/// The row of the type definition of an Object or Variable; `no_row` for others.
std::uint32_t type_definition(std::uint32_t row) noexcept;

/// True for what hangs below the Root folder with no type in between: an instance, and no
/// declaration of what instances of a type have.
bool belongs_to_an_instance(std::uint32_t row) noexcept;

/// MinimumSamplingInterval in ms, 0 where none is stated.
double minimum_sampling_interval(std::uint32_t row) noexcept;
/// Stated array dimensions; null when there are none but zeros.
const standard_dimensions* dimensions(std::uint32_t row) noexcept;

}  // namespace tagferry::opcua::standard
