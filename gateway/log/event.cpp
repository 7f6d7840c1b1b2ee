#include "gateway/log/event.hpp"

#include <array>
#include <cstddef>

namespace tagferry::gateway::log {

namespace {

using enum event;

constexpr std::array catalogue = {
    event_description{gateway_starting, "gateway.starting", level::info, "Tagferry starts", ""},
    event_description{gateway_ready, "gateway.ready", level::info, "everything serves", ""},
    event_description{gateway_stopping, "gateway.stopping", level::info, "Tagferry stops", ""},
    event_description{gateway_stopped, "gateway.stopped", level::info, "Tagferry has stopped", ""},
    event_description{gateway_failed, "gateway.failed", level::error, "Tagferry cannot go on",
                      "Read `reason`; the exit code says the kind of failure."},
    event_description{config_loaded, "config.loaded", level::info, "the configuration was loaded",
                      ""},
    event_description{config_warning, "config.warning", level::warning,
                      "something in the configuration is doubtful",
                      "`text` and `hint` say what; `tagferry check` shows it with its place."},
    event_description{config_invalid, "config.invalid", level::error,
                      "the configuration is invalid",
                      "`tagferry check -c FILE` lists everything that is wrong with its place."},
    event_description{config_not_applied, "config.not_applied", level::error,
                      "a changed configuration was not taken over",
                      "The old one stays in force. `reason` says what needs a restart."},
    event_description{listener_opened, "listener.opened", level::info, "a listener accepts", ""},
    event_description{listener_accept_failed, "listener.accept_failed", level::error,
                      "connections cannot be accepted",
                      "`reason` says why; clients wait until it works again. Of too many open "
                      "files: raise `LimitNOFILE=` of the unit (`ulimit -n` in a shell), or lower "
                      "`web.limits.connections` and `opcua.limits.max_channels`."},
    event_description{listener_refused, "listener.refused", level::warning,
                      "connections were refused at a limit",
                      "A client opens too many, or `limits` are too small for this plant."},
    event_description{shard_fault, "shard.fault", level::error, "an internal fault was contained",
                      "A defect of the product: report the line; service goes on."},
    event_description{pool_unlocked, "pool.unlocked", level::warning,
                      "buffers are not locked in memory",
                      "Raise `LimitMEMLOCK=` of the unit. Without it, swapping can delay values."},
    event_description{pool_exhausted, "pool.exhausted", level::warning,
                      "all buffers of a pool are out; peers wait",
                      "If it lasts, raise the limit named by `pool`."},
    event_description{storage_failed, "storage.failed", level::error,
                      "the state directory cannot be written",
                      "Is the disk full or read-only? Serving goes on without it."},
    event_description{log_dropped, "log.dropped", level::warning, "log lines were dropped",
                      "Standard error is read too slowly, or `limits.log_ring_entries` is small."},
    event_description{audit_held_back, "audit.held_back", level::warning,
                      "writes wait because the audit trail cannot be written",
                      "Is the disk of the state directory full or slow?"},
    event_description{worker_refused, "worker.refused", level::warning,
                      "slow work was refused: too much is waiting",
                      "Too many handshakes or scrapes at once; see `limits.worker_jobs`."},
    event_description{s7_connecting, "s7.connecting", level::debug, "an attempt to connect", ""},
    event_description{s7_connected, "s7.connected", level::info, "a PLC is connected", ""},
    event_description{s7_connect_failed, "s7.connect_failed", level::warning,
                      "a PLC cannot be reached",
                      "`reason` says how far it got: no route or timeout (network, address), "
                      "refused (wrong port), COTP refused (rack, slot, connection type), setup "
                      "refused (no free connection in the PLC). Attempts go on."},
    event_description{s7_link_lost, "s7.link_lost", level::warning, "the link to a PLC was lost",
                      "Its tags are Bad until it is back; attempts go on by themselves."},
    event_description{s7_job_timeout, "s7.job_timeout", level::warning,
                      "a PLC did not answer a job in time",
                      "PLC or network are overloaded, or `job_timeout_ms` is too short."},
    event_description{s7_job_refused, "s7.job_refused", level::warning, "a PLC refused a job",
                      "Often PUT/GET access is not permitted in the PLC's protection settings."},
    event_description{s7_reply_unusable, "s7.reply_unusable", level::warning,
                      "a PLC's reply does not fit its job",
                      "The link is reset. If it repeats, record it and report it."},
    event_description{s7_item_failed, "s7.item_failed", level::warning, "a PLC refused a tag",
                      "Does the block exist, is it long enough, is it not optimised?"},
    event_description{s7_scan_late, "s7.scan_late", level::warning,
                      "a scan was skipped because the one before it still runs",
                      "Too many tags for this interval: use a slower scan class for some."},
    event_description{s7_plc_stopped, "s7.plc_stopped", level::warning, "a PLC is in STOP", ""},
    event_description{opcua_channel_opened, "opcua.channel_opened", level::debug,
                      "a client opened a channel", ""},
    event_description{opcua_channel_closed, "opcua.channel_closed", level::debug,
                      "a channel was closed", ""},
    event_description{opcua_session_created, "opcua.session_created", level::info,
                      "a client created a session", ""},
    event_description{opcua_session_activated, "opcua.session_activated", level::info,
                      "a client activated its session", ""},
    event_description{opcua_session_closed, "opcua.session_closed", level::info,
                      "a client closed its session", ""},
    event_description{opcua_session_timed_out, "opcua.session_timed_out", level::info,
                      "a session ended because its client went away", ""},
    event_description{opcua_protocol_error, "opcua.protocol_error", level::warning,
                      "a client broke the protocol and was disconnected",
                      "`reason` is the status code it was told. Is it an OPC UA client at all?"},
    event_description{opcua_certificate_accepted, "opcua.certificate_accepted", level::warning,
                      "an unknown client certificate was accepted",
                      "Only `tagferry demo` does this."},
    event_description{web_request_refused, "web.request_refused", level::warning,
                      "a request was refused", "`status` and `reason` are what the client got."},
    event_description{web_request_failed, "web.request_failed", level::error,
                      "a request failed inside the gateway",
                      "A defect of the product: report the line; service goes on."},
    event_description{tls_handshake_failed, "tls.handshake_failed", level::warning,
                      "a TLS handshake failed",
                      "`reason` says which side refused; often the certificate is not trusted."},
    event_description{write_accepted, "write.accepted", level::info, "a PLC accepted a write", "",
                      true},
    event_description{write_refused, "write.refused", level::warning, "a write was refused",
                      "`reason` is what the client got.", true},
    event_description{write_outcome_unknown, "write.outcome_unknown", level::error,
                      "a write was sent and its outcome is unknown",
                      "Read the tag before writing again; it is never repeated by itself.", true},
    event_description{demo_fault, "demo.fault", level::info, "the demo plays a fault", ""},
    event_description{systemd_failed, "systemd.failed", level::warning,
                      "systemd could not be notified", "Is `NotifyAccess=` of the unit `main`?"},
};

constexpr bool in_order() {
    for (std::size_t index = 0; index < catalogue.size(); ++index) {
        if (static_cast<std::size_t>(catalogue[index].code) != index) {
            return false;
        }
    }
    return true;
}
static_assert(in_order(), "the rows stand in the order of the enumerators");
static_assert(catalogue.size() == static_cast<std::size_t>(systemd_failed) + 1);

}  // namespace

const event_description& describe(event code) noexcept {
    return catalogue[static_cast<std::size_t>(code)];
}

std::span<const event_description> all_events() noexcept {
    return catalogue;
}

std::string_view level_word(level importance) noexcept {
    switch (importance) {
        case level::debug:
            return "debug";
        case level::info:
            return "info";
        case level::warning:
            return "warning";
        case level::error:
            break;
    }
    return "error";
}

std::string events_page() {
    std::string page =
        "# Events\n\n"
        "Made from the catalogue in `event.cpp`; the test `log_events` compares it. A line on\n"
        "standard error is `ts=… level=… event=… msg=…` and the event's own fields, or the same\n"
        "as a JSON object (`log.format`). Ids are stable. Of one event for one subject five lines\n"
        "in ten seconds are written; the next one after that says in `repeats` how many were not.\n"
        "Of `write.` events each one is written. Lines that find `limits.log_ring_entries` "
        "waiting\n"
        "are lost and counted: `tagferry_log_dropped_total`, and for writes also\n"
        "`tagferry_log_dropped_writes_total`.\n"
        "\n| event | level | what happened | what to do |\n|---|---|---|---|\n";
    for (const event_description& row : catalogue) {
        page += "| `" + std::string{row.id} + "` | " + std::string{level_word(row.importance)} +
                " | " + std::string{row.words} + " | " + std::string{row.remedy} + " |\n";
    }
    return page;
}

}  // namespace tagferry::gateway::log
