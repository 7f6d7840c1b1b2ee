// Every event the product logs, by a stable id. Operators filter and alert on ids; the words may
// change, an id never does. EVENTS.md is made from this catalogue.
#pragma once

#include "gateway/config/configuration.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tagferry::gateway::log {

using level = config::log_level;

/// The catalogue's rows, in its order.
enum class event : std::uint8_t {
    gateway_starting,
    gateway_ready,
    gateway_stopping,
    gateway_stopped,
    gateway_failed,
    config_loaded,
    config_warning,
    config_invalid,
    config_not_applied,
    listener_opened,
    listener_accept_failed,
    listener_refused,
    shard_fault,
    pool_unlocked,
    pool_exhausted,
    storage_failed,
    log_dropped,
    audit_held_back,
    worker_refused,
    s7_connecting,
    s7_connected,
    s7_connect_failed,
    s7_link_lost,
    s7_job_timeout,
    s7_job_refused,
    s7_reply_unusable,
    s7_item_failed,
    s7_scan_late,
    s7_plc_stopped,
    opcua_channel_opened,
    opcua_channel_closed,
    opcua_session_created,
    opcua_session_activated,
    opcua_session_closed,
    opcua_session_timed_out,
    opcua_protocol_error,
    opcua_certificate_accepted,
    web_request_refused,
    web_request_failed,
    tls_handshake_failed,
    write_accepted,
    write_refused,
    write_outcome_unknown,
    demo_fault,
    systemd_failed,
};

struct event_description {
    event code{};
    std::string_view id;  ///< e.g. `s7.connect_failed`
    level importance{};
    std::string_view words;   ///< what happened: the line's `msg`
    std::string_view remedy;  ///< what to do; empty when there is nothing to do
    /// Part of the record of who wrote what: each one counts, however often it repeats.
    bool every_one = false;
};

/// The row of an event. Static storage.
const event_description& describe(event code) noexcept;
/// All rows, in the order of the enumerators.
std::span<const event_description> all_events() noexcept;

/// The word of a level in a line: `debug`, `info`, `warning`, `error`.
std::string_view level_word(level importance) noexcept;

/// EVENTS.md, made from the catalogue.
std::string events_page();

}  // namespace tagferry::gateway::log
