// Every capacity of the process is a member of one of these structures or of a room's own
// (protocols/opcua/limits.hpp); nothing else in the product fixes a size. Names, units, ranges,
// metrics and words of all of them are in one description (limit_fields.cpp), from which parser,
// schema and REFERENCE.md are made. Limits fix memory at start: address space is reserved for
// them, pages are committed on demand.
#pragma once

#include <cstdint>

namespace tagferry::gateway::config {

/// `web.limits`
struct web_limits {
    std::uint32_t connections = 1'100;            ///< TCP connections in all
    std::uint32_t connections_per_address = 100;  ///< TCP connections of one client address
    std::uint32_t streams = 1'000;                ///< WebSocket clients
    std::uint32_t request_head_bytes = 8'192;     ///< request line and headers
    std::uint32_t request_target_bytes = 4'096;   ///< path and query
    std::uint32_t request_body_bytes = 1'048'576;
    std::uint32_t requests_in_flight = 16;      ///< pipelined requests of one connection
    std::uint32_t values_per_page = 1'000;      ///< rows of one answer
    std::uint32_t request_timeout_ms = 10'000;  ///< first byte to complete request
    std::uint32_t idle_timeout_ms = 60'000;     ///< between requests
    std::uint32_t response_buffer_bytes = 16'384;
    std::uint32_t response_buffers = 2'200;  ///< pool slots
    std::uint32_t concurrent_scrapes = 2;    ///< /metrics answers being made at once
};

/// `limits`
struct process_limits {
    std::uint32_t connections = 100;  ///< PLC links
    std::uint32_t tags = 100'000;
    std::uint32_t tags_per_connection = 100'000;
    std::uint32_t value_bytes = 65'536;          ///< largest value of one tag
    std::uint32_t large_value_buffers = 64;      ///< pooled buffers for values over 4 KiB
    std::uint32_t sample_ring_entries = 65'536;  ///< samples queued for one consuming shard
    std::uint32_t pending_writes_per_connection = 256;
    std::uint32_t pending_device_reads_per_connection = 256;
    std::uint32_t mailbox_entries = 4'096;  ///< tasks waiting for one shard
    std::uint32_t worker_threads = 2;
    std::uint32_t worker_jobs = 256;           ///< jobs waiting for the worker pool
    std::uint32_t log_ring_entries = 4'096;    ///< log lines waiting for the storage thread
    std::uint32_t audit_ring_entries = 4'096;  ///< audit rows waiting for the storage thread
};

}  // namespace tagferry::gateway::config
