// Every bound of the HTTP side, in one structure that the configuration describes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagferry::web {

/// Sizes in bytes, times in ms.
struct http_limits {
    // Admission; the listener's, as the gateway makes it.
    std::uint32_t connections = 1'100;            ///< TCP connections in all
    std::uint32_t connections_per_address = 100;  ///< TCP connections of one client address

    /// Request line and header section with their line ends; over it: 431. A head must fit the
    /// driver's staging buffer of 8 KiB whole.
    std::size_t head_size = 7 * 1024;
    std::size_t target_size = 4 * 1024;  ///< bytes of the request target; over it: 414
    std::size_t field_count = 64;        ///< header lines of one request; over it: 431
    std::size_t body_size = 64 * 1024;   ///< bytes of a decoded request body; over it: 413
    std::size_t chunk_line_size = 1024;  ///< one chunk line with extensions, or all trailers
    std::size_t requests_per_turn = 64;  ///< pipelined requests handled in one turn

    std::size_t output_slot_size = 16 * 1024;
    std::size_t output_slots = 2'200;          ///< of all connections: two for each of 1,100
    std::size_t connection_output_slots = 64;  ///< one answer's hard cap: 1 MiB
    std::size_t output_high_water_slots = 4;   ///< a stream pauses, pipelining stops: 64 KiB
    std::size_t request_slots = 32;  ///< requests kept for a body, a list or a deferred answer

    std::size_t list_limit_default = 100;  ///< items of a list when `limit` is not given
    std::size_t list_limit_max = 1000;
    std::size_t tags_per_request = 128;  ///< `tag=` parameters of one request
    std::size_t scrapes = 2;             ///< metrics collections at the same time; over it: 503

    std::size_t stream_sockets = 1'000;           ///< WebSockets in all; over it: 503
    std::size_t stream_subscriptions = 32;        ///< of one socket
    std::size_t stream_tags = 100'000;            ///< of one subscription
    std::size_t stream_entries = 1'000'000;       ///< tags of all subscriptions together
    std::size_t stream_message_size = 32 * 1024;  ///< bytes of a client's message; over it: 1009
    std::size_t stream_pattern_size = 4 * 1024;   ///< bytes of a subscription's patterns
    std::size_t stream_high_water_slots = 2;      ///< unsent, from which on a client is slow
    std::uint32_t stream_interval_min_ms = 50;    ///< between two deltas of a subscription
    std::uint32_t stream_slow_ms = 10'000;        ///< slow for longer: 4429
    std::uint32_t stream_message_ms = 10'000;     ///< first to last frame of a message
    std::uint32_t stream_ping_ms = 20'000;        ///< between two pings
    std::uint32_t stream_silence_ms = 60'000;     ///< without a byte from the client

    std::uint32_t head_timeout_ms = 10'000;    ///< first byte to end of head
    std::uint32_t body_timeout_ms = 30'000;    ///< end of head to end of body
    std::uint32_t idle_timeout_ms = 60'000;    ///< between requests
    std::uint32_t send_timeout_ms = 30'000;    ///< without a byte leaving
    std::uint32_t answer_timeout_ms = 10'000;  ///< of a deferred answer
};

/// What `connection_output_slots` may be at most: connections keep a table of that size.
inline constexpr std::size_t max_connection_output_slots = 64;

}  // namespace tagferry::web
