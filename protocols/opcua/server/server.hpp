// The OPC UA server: what all channels share, and the engine of one connection.
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/limits.hpp"
#include "transport/engine.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace tagferry::opcua {

/// How much of its limits is in use now. Each number is true by itself.
struct server_statistics {
    std::uint64_t sessions = 0;            ///< of `max_sessions`
    std::uint64_t pending_operations = 0;  ///< of `max_pending_operations`
    std::uint64_t continuation_points = 0;
    std::uint64_t registered_nodes = 0;
    std::uint64_t subscriptions = 0;         ///< of `max_subscriptions`
    std::uint64_t monitored_items = 0;       ///< of `max_monitored_items`
    std::uint64_t publish_requests = 0;      ///< held, of `max_publish_requests`
    std::uint64_t queue_bytes = 0;           ///< of `max_queue_bytes`
    std::uint64_t retransmission_bytes = 0;  ///< of `max_retransmission_bytes`
    std::uint64_t notifications = 0;         ///< published since the start
    std::uint64_t queue_overflows = 0;       ///< times that a queue discarded a value, likewise
    // Connections since the start.
    std::uint64_t refused_by_channels = 0;  ///< every channel has a session
    std::uint64_t refused_by_address = 0;   ///< likewise for one client address
    std::uint64_t evicted = 0;              ///< made room for a newer one
};

/// Lives on the OPC UA shard; every call but `statistics` on that shard's thread. Holds the address
/// space, the sessions, the pools and the pending operations of all its connections.
class server {
  public:
    /// Allocates everything that operation needs. Throws std::system_error when a pool cannot be
    /// reserved and std::invalid_argument when a limit makes no sense.
    /// @param ports and @param time must outlive the server.
    server(const backend& ports, const limits& bounds, const transport::clock& time);
    /// Every engine that it made must be gone.
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// An engine for a connection just accepted; what the listener's factory calls.
    /// @param peer the client's address as text, "host:port"; copied. Over the limit of channels,
    /// or
    ///   of those from one host, the oldest without a session makes room; when all have sessions,
    ///   the new one is told BadTcpServerTooBusy and ends.
    /// @return null when even twice as many channels as allowed exist, ending ones included.
    std::unique_ptr<transport::engine> make_connection(std::string_view peer);

    /// When `expire` should be called: session timeouts, deadlines of pending operations.
    transport::time_point deadline() const noexcept;
    void expire(transport::time_point now);

    /// Any thread.
    server_statistics statistics() const noexcept;

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace tagferry::opcua
