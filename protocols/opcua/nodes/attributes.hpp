// Attributes other than the value of a tag (Part 3 §5).
#pragma once

#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/nodes/address_space.hpp"
#include "protocols/opcua/nodes/server_view.hpp"

#include <cstdint>

namespace tagferry::opcua {

/// Writes the Variant of an attribute. The Value of a tag is not among them: it comes from
/// `values_backend`.
/// @return Good; BadAttributeIdInvalid when nodes of this class have no such attribute, with
///   nothing written; BadNodeIdUnknown when the node is gone; for a Value that this server does not
///   keep, the status that says so.
status_code write_attribute(encoder& out, const server_view& server, const call& context,
                            const node_key& key, std::uint32_t which, transport::wall_time_ns now);

}  // namespace tagferry::opcua
