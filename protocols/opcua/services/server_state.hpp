// What all channels of the server share.
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/channel/outbox.hpp"
#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/nodes/address_space.hpp"
#include "protocols/opcua/nodes/server_view.hpp"
#include "protocols/opcua/services/operation.hpp"
#include "protocols/opcua/services/registered_nodes.hpp"
#include "protocols/opcua/session/session.hpp"
#include "protocols/opcua/subscription/subscriptions.hpp"
#include "transport/memory/generation_table.hpp"
#include "transport/memory/operations.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "transport/memory/shown_number.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tagferry::opcua {

inline const transport::operation_kind opcua_read =
    transport::register_operation_kind("opcua_read");
inline const transport::operation_kind opcua_write =
    transport::register_operation_kind("opcua_write");

/// Where a Browse that was cut off goes on (Part 4 §7.9).
struct continuation_point {
    std::uint32_t session_number = 0;
    node_key node{};
    reference_cursor cursor{};
    browse_filter filter{};
};

inline constexpr std::size_t device_batch = 256;
inline constexpr std::size_t attribute_scratch_size = 16 * 1024;

/// Items of a Read that are done together: found, then read, then written.
struct read_block {
    static constexpr std::size_t size = 32;
    std::array<std::string_view, size> paths{};
    std::array<tree_handle, size> nodes{};  ///< the root: there is no such node
    std::array<tag_handle, size> tags{};
    std::array<number_sample, size> numbers{};
};

/// Plain data with few helpers: the services work on it.
struct server_state {
    server_state(const backend& gateway, const limits& limits_in_force,
                 const transport::clock& clock_in_force);

    backend ports;
    limits bounds;
    server_counters counted;
    const transport::clock& time;
    address_space space;
    session_table sessions;
    registered_nodes registered;
    transport::pinned_pool responses;    ///< chunks going out
    chunk_links links;                   ///< one for each of `responses`
    transport::pinned_pool requests;     ///< bodies of pending requests that fit one chunk
    transport::pinned_pool assemblies;   ///< messages of several chunks
    transport::pinned_pool write_lists;  ///< items of pending Write requests
    transport::generation_table<operation> operations;
    transport::generation_table<continuation_point> continuations;
    subscriptions publishing;
    transport::completion_sink* resumer = nullptr;  ///< resumes pending operations by token
    transport::shown_number pending_count;          ///< operations pending or abandoned
    transport::shown_number continuation_count;     ///< of `continuations`
    std::vector<std::uint64_t> service_calls;       ///< by row of the table of services
    // Memory that a service uses within one step and never across steps.
    std::array<std::byte, max_inline_value_bytes> value_scratch{};
    std::array<std::byte, attribute_scratch_size> attribute_scratch{};
    std::array<tag_handle, device_batch> device_scratch{};
    read_block reading{};

    /// What the nodes of the Server object show.
    server_view view() const noexcept { return {ports, bounds, counted}; }
    /// Tells the log of something that happened to a session.
    void tell(server_event what, const session& whose, std::string_view peer) noexcept;
    /// Ends a session: frees what it holds and drops the answers it still waits for.
    /// @param delete_subscriptions false: they live on until their lifetime ends or another session
    ///   takes them over.
    void end_session(session& gone, bool delete_subscriptions, transport::time_point now);
    /// Gives an operation back. An abandoned one that the backend still owes a resume stays.
    void release(operation& done) noexcept;
    /// Gives a continuation point back.
    void release_continuation(session& owner, transport::completion_token token) noexcept;
};

}  // namespace tagferry::opcua
