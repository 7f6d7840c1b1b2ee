// The properties of tags and connections: nodes that the gateway's tree does not list by itself.
#pragma once

#include "protocols/opcua/backend/browse.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/encoding/views.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::opcua {

/// One property. Its NodeId is the string `<path of its owner>/<name>` in the namespace of this
/// server, where nothing else has a string for an id.
struct property {
    std::string_view name{};
    std::uint16_t browse_namespace = 0;
    std::uint32_t data_type = 0;  ///< of namespace 0
    /// Writes its value as a Variant.
    void (*write)(encoder& out, const tree_node& owner) = nullptr;
};

/// What a node has: an EngineeringUnits for a tag with a unit, the nameplate of Device Integration
/// §4.7 for a connection. What the gateway does not know of a device has the value that the
/// specification names for that: an empty text, and -1 for RevisionCounter.
std::span<const property> properties_of(const tree_node& owner) noexcept;

}  // namespace tagferry::opcua
