// Everything the OPC UA server needs from above, one interface per concern. The gateway
// implements them; all calls are made on the OPC UA shard's thread.
#pragma once

#include "protocols/opcua/backend/browse.hpp"
#include "protocols/opcua/backend/call.hpp"
#include "protocols/opcua/backend/configuration.hpp"
#include "protocols/opcua/backend/events.hpp"
#include "protocols/opcua/backend/feed.hpp"
#include "protocols/opcua/backend/identity.hpp"
#include "protocols/opcua/backend/schedule.hpp"
#include "protocols/opcua/backend/values.hpp"
#include "protocols/opcua/backend/writes.hpp"

namespace tagferry::opcua {

/// Every interface outlives the server.
struct backend {
    values_backend& values;
    browse_backend& browse;
    writes_backend& writes;
    feed_backend& feed;
    identity_backend& identity;
    configuration_backend& configuration;
    events_backend& events;
    schedule_backend& schedule;
};

}  // namespace tagferry::opcua
