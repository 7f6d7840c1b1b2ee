// What the live nodes of the Server object are made from.
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/nodes/server_counters.hpp"

namespace tagferry::opcua {

/// References to what belongs to the server.
struct server_view {
    const backend& ports;
    const limits& bounds;
    const server_counters& counted;
};

}  // namespace tagferry::opcua
