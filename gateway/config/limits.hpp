// Every capacity of the process is a member of this structure or of a room's own
// (protocols/opcua/limits.hpp, web/http/limits.hpp), which the configuration describes as they
// are. Names, units, ranges, metrics and words of all of them are in one description
// (limit_fields.cpp), from which parser, schema and REFERENCE.md are made. Limits fix memory at
// start: address space is reserved for them, pages are committed on demand.
#pragma once

#include <cstdint>

namespace tagferry::gateway::config {

/// `limits`
struct process_limits {
    std::uint32_t connections = 100;  ///< PLC links
    std::uint32_t tags = 100'000;
    std::uint32_t tags_per_connection = 100'000;
    std::uint32_t value_bytes = 65'536;  ///< largest value of one tag
    /// Ring of samples for clients that want every one, of each shard with PLC links.
    std::uint32_t sample_ring_bytes = 4'194'304;
    std::uint32_t pending_writes_per_connection = 32;
    std::uint32_t pending_device_reads_per_connection = 16;
    std::uint32_t web_tokens = 64;          ///< all are compared with each one that comes
    std::uint32_t mailbox_entries = 4'096;  ///< tasks waiting for one shard
    std::uint32_t worker_threads = 2;
    std::uint32_t worker_jobs = 256;         ///< jobs waiting for the worker pool
    std::uint32_t log_ring_entries = 4'096;  ///< log lines waiting for the storage thread
};

/// What `pending_writes_per_connection` may be at most: the jobs an S7 engine queues, less those
/// that scans keep ahead.
inline constexpr std::uint32_t most_pending_writes = 62;

}  // namespace tagferry::gateway::config
