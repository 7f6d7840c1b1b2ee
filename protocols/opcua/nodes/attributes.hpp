// Attributes other than the value of a tag (Part 3 §5).
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/nodes/address_space.hpp"

#include <cstdint>

namespace tagferry::opcua {

/// Writes the Variant of an attribute. The Value of a tag is not among them: it comes from
/// `values_backend`.
/// @return Good; BadAttributeIdInvalid when nodes of this class have no such attribute, with
///   nothing written; BadNodeIdUnknown when the node is gone.
status_code write_attribute(encoder& out, const backend& ports, const limits& bounds,
                            const call& context, const node_key& key, std::uint32_t which,
                            transport::wall_time_ns now);

}  // namespace tagferry::opcua
