#include "gateway/app/parts.hpp"

namespace tagferry::gateway {

void event_reporter::expect(std::size_t sources) {
    repeats_.resize(sources);
}

void event_reporter::source_changed(const source& which, source_state before) {
    const source_place* const place = sources_.find(which);
    if (place == nullptr) {
        return;
    }
    const source_status status = which.status();
    repeats& seen = repeats_[static_cast<std::size_t>(place - sources_.all().data())];
    switch (status.state) {
        case source_state::connecting:
            logger_.write(log::event::s7_connecting,
                          {{"connection", place->name}, {"endpoint", place->endpoint}});
            break;
        case source_state::up:
            seen.connect_failures.begin_anew();
            logger_.write(log::event::s7_connected, {{"connection", place->name},
                                                     {"endpoint", place->endpoint},
                                                     {"pdu_size", status.pdu_size},
                                                     {"window", status.window}});
            break;
        case source_state::waiting:
            if (before == source_state::up) {
                logger_.write(log::event::s7_link_lost, {{"connection", place->name},
                                                         {"endpoint", place->endpoint},
                                                         {"reason", status.reason}});
            } else {
                connect_failed(*place, status, seen);
            }
            break;
        case source_state::stopped:
            break;
    }
}

/// Another reason than last time is news.
void event_reporter::connect_failed(const source_place& place, const source_status& status,
                                    repeats& seen) {
    if (seen.connect_reason != status.reason) {
        seen.connect_reason = status.reason;
        seen.connect_failures.changed();
    }
    if (const auto attempts = seen.connect_failures.happened(clock_.now())) {
        logger_.write(log::event::s7_connect_failed, {{"connection", place.name},
                                                      {"endpoint", place.endpoint},
                                                      {"reason", status.reason},
                                                      {"attempts", *attempts}});
    }
}

void event_reporter::source_event_happened(const source& which, const source_event& what) {
    const source_place* const place = sources_.find(which);
    if (place == nullptr) {
        return;
    }
    repeats& seen = repeats_[static_cast<std::size_t>(place - sources_.all().data())];
    const auto thinned = [&](log::event code, log::thinned_repeats& repeated,
                             const log::field& detail) {
        if (const auto times = repeated.happened(clock_.now())) {
            logger_.write(code, {{"connection", place->name},
                                 {"endpoint", place->endpoint},
                                 detail,
                                 {"times", *times}});
        }
    };
    const log::field reason{"reason", describe(what.reason).words};
    switch (what.kind) {
        case source_event_kind::item_failed:
            logger_.write(log::event::s7_item_failed, {{"connection", place->name},
                                                       {"tag", what.tag},
                                                       {"reason", describe(what.reason).words},
                                                       {"code", what.device_code}});
            break;
        case source_event_kind::request_timed_out:
            thinned(log::event::s7_job_timeout, seen.timeouts, reason);
            break;
        case source_event_kind::request_refused:
            thinned(log::event::s7_job_refused, seen.refusals, {"code", what.device_code});
            break;
        case source_event_kind::reply_unusable:
            thinned(log::event::s7_reply_unusable, seen.unusable, reason);
            break;
        case source_event_kind::scan_late:
            thinned(log::event::s7_scan_late, seen.late_scans, {"scan_class", what.scan_class});
            break;
    }
}

void event_reporter::happened(transport::listener_event event, const transport::address& peer,
                              std::error_code error, std::uint64_t count) {
    const std::string from = transport::to_text(peer);
    if (event == transport::listener_event::accept_failed) {
        const std::string reason = error.message();
        logger_.write(log::event::listener_accept_failed, {{"reason", reason}, {"count", count}});
        return;
    }
    const bool in_all = event == transport::listener_event::refused_in_all;
    logger_.write(log::event::listener_refused,
                  {{"limit", in_all ? "connections" : "connections_per_address"},
                   {"peer", from},
                   {"count", count}});
}

}  // namespace tagferry::gateway
