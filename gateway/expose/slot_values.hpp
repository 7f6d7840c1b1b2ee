// From the slot form of the table to the form both front ends show: strings without their unused
// room, one element after the other.
#pragma once

#include "gateway/model/value_type.hpp"
#include "protocols/opcua/backend/value_view.hpp"
#include "web/backend/value.hpp"

#include <cstddef>
#include <span>

namespace tagferry::gateway {

/// Moves the elements of a string or byte string together, in place; other types stay as they
/// are. A length over the capacity, which no writer of ours stores, is cut to it.
/// @param slot exactly `value_size(type)` bytes. @return the bytes in use.
std::span<const std::byte> pack_slot(const value_type& type, std::span<std::byte> slot) noexcept;

/// The reverse: a value as both front ends give it, into a slot of exactly `value_size(type)`
/// bytes. False: a text is longer than the tag takes, or the bytes are not such a value.
bool unpack_slot(const value_type& type, std::span<const std::byte> packed,
                 std::span<std::byte> slot) noexcept;

/// Whether `pack_slot` changes anything.
bool needs_packing(const value_type& type) noexcept;

opcua::builtin_type to_opcua(data_type type) noexcept;
web::value_type to_web(data_type type) noexcept;

}  // namespace tagferry::gateway
