// Counters of what the drivers of one protocol on one shard have moved (TX10). Written by the
// shard thread alone, read by the metrics thread at any time.
#pragma once

#include "transport/engine.hpp"
#include "transport/memory/shown_number.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagferry::transport {

using traffic_counter = shown_number;

/// Upper bounds of the histogram of messages in one write; a last bucket takes the rest.
inline constexpr std::array<std::size_t, 6> batch_size_bounds = {1, 2, 4, 8, 16, 32};

inline constexpr std::size_t close_reason_count = 9;

/// One protocol's traffic on one shard. Registered for the metrics page while it exists.
class traffic {
  public:
    /// @param protocol the metric label, static storage, e.g. "opcua".
    explicit traffic(std::string_view protocol);
    ~traffic();
    traffic(const traffic&) = delete;
    traffic& operator=(const traffic&) = delete;

    std::string_view protocol() const noexcept { return protocol_; }

    // What every message touches, in one cache line.
    alignas(64) traffic_counter messages;  ///< tagferry_transport_messages_total: sent whole
    traffic_counter writes;                ///< tagferry_transport_writes_total: sending calls
    traffic_counter sent_bytes;
    traffic_counter reads;  ///< receives that brought bytes
    traffic_counter received_bytes;
    /// Writes by how many messages were pulled for them, see `batch_size_bounds`.
    std::array<traffic_counter, batch_size_bounds.size() + 1> batch_sizes;

    traffic_counter gathered_writes;     ///< of `writes`, those with more than one segment
    traffic_counter blocked_writes;      ///< times a write had to wait for the peer
    traffic_counter longest_batch;       ///< most messages ever pulled at once
    traffic_counter most_pending_bytes;  ///< most bytes ever waiting in one driver
    traffic_counter large_frame_waits;   ///< times reading stopped for want of a large buffer
    traffic_counter connections_open;    ///< now
    traffic_counter connections_total;
    traffic_counter refused_in_all;      ///< not admitted: too many connections
    traffic_counter refused_by_address;  ///< not admitted: too many from one address
    traffic_counter accept_errors;
    traffic_counter connect_failures;
    std::array<traffic_counter, close_reason_count> closed;  ///< by `close_reason`

  private:
    friend void for_each_traffic(void (*visit)(const traffic&, void*), void* context);
    std::string_view protocol_;
    traffic* next_ = nullptr;
};

/// Visits every traffic that exists, under the registry's lock: `visit` must be short and must
/// neither make nor destroy one. Callable from any thread.
void for_each_traffic(void (*visit)(const traffic&, void*), void* context);

}  // namespace tagferry::transport
