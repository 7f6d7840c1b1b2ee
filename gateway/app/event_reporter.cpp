#include "gateway/app/parts.hpp"

namespace tagferry::gateway {

void event_reporter::source_changed(const source& which, source_state before) {
    for (const source_place& place : sources_.all()) {
        if (place.source != &which) {
            continue;
        }
        const source_status status = which.status();
        if (status.state == source_state::up) {
            logger_.write(log::event::s7_connected, {{"connection", place.name},
                                                     {"endpoint", place.endpoint},
                                                     {"pdu_size", status.pdu_size},
                                                     {"window", status.window}});
        } else if (status.state == source_state::waiting) {
            logger_.write(before == source_state::up ? log::event::s7_link_lost
                                                     : log::event::s7_connect_failed,
                          {{"connection", place.name},
                           {"endpoint", place.endpoint},
                           {"reason", status.reason}});
        }
    }
}

void event_reporter::happened(transport::listener_event event, const transport::address& peer,
                              std::error_code error, std::uint64_t count) {
    const std::string from = transport::to_text(peer);
    if (event == transport::listener_event::accept_failed) {
        const std::string reason = error.message();
        logger_.write(log::event::listener_failed, {{"reason", reason}, {"count", count}});
        return;
    }
    const bool in_all = event == transport::listener_event::refused_in_all;
    logger_.write(log::event::listener_refused,
                  {{"limit", in_all ? "connections" : "connections_per_address"},
                   {"peer", from},
                   {"count", count}});
}

}  // namespace tagferry::gateway
