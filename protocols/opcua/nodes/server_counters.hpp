// What the server has counted since its start: ServerDiagnosticsSummaryDataType of Part 5 §12.9 and
// the connections that were not let in.
#pragma once

#include "transport/memory/shown_number.hpp"

namespace tagferry::opcua {

/// Counted on the OPC UA shard, shown to any thread.
struct server_counters {
    transport::shown_number sessions;                  ///< alive now
    transport::shown_number sessions_created;          ///< since the start
    transport::shown_number sessions_rejected;         ///< CreateSession or ActivateSession refused
    transport::shown_number sessions_rejected_access;  ///< of them: identity or security
    transport::shown_number sessions_timed_out;
    transport::shown_number subscriptions;             ///< alive now
    transport::shown_number subscriptions_created;     ///< since the start
    transport::shown_number publishing_intervals;      ///< different ones in use now
    transport::shown_number requests_rejected;         ///< answered with a ServiceFault
    transport::shown_number requests_rejected_access;  ///< of them: identity or security
    transport::shown_number refused_by_channels;       ///< connections: every channel has a session
    transport::shown_number refused_by_address;        ///< likewise for one address
    transport::shown_number evicted;                   ///< connections that made room (E22)
};

}  // namespace tagferry::opcua
