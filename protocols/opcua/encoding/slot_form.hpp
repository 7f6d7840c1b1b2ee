// From what a client sent to the gateway's slot form, in the same memory: the slot form of a value
// is never longer than its encoding.
#pragma once

#include "protocols/opcua/backend/value_view.hpp"
#include "protocols/opcua/encoding/views.hpp"

#include <cstddef>
#include <span>

namespace tagferry::opcua {

/// Turns the elements of a decoded Variant into slot form.
/// @param memory the bytes of `value.elements`, to be written over.
/// @param out receives type, length and a view into `memory`.
/// @return Good; BadTypeMismatch for a null array or a type without slot form; BadOutOfRange for a
///   text longer than the 65,535 bytes that the slot form can say.
status_code variant_to_slot(const variant_view& value, std::span<std::byte> memory,
                            value_view& out) noexcept;

/// The same for a ByteString that stands for an array of Byte (Part 4 §5.10.4).
/// @param memory its encoding, length in front.
status_code byte_string_to_slot(std::span<std::byte> memory, value_view& out) noexcept;

}  // namespace tagferry::opcua
