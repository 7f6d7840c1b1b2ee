#include "gateway/expose/opcua/events.hpp"

#include "protocols/opcua/spec/generated/status_codes.hpp"

namespace tagferry::gateway {
namespace {

log::event event_of(opcua::server_event event) noexcept {
    switch (event) {
        case opcua::server_event::channel_opened:
            return log::event::opcua_channel_opened;
        case opcua::server_event::channel_closed:
            return log::event::opcua_channel_closed;
        case opcua::server_event::session_created:
            return log::event::opcua_session_created;
        case opcua::server_event::session_activated:
            return log::event::opcua_session_activated;
        case opcua::server_event::session_closed:
            return log::event::opcua_session_closed;
        case opcua::server_event::session_timed_out:
            return log::event::opcua_session_timed_out;
        case opcua::server_event::protocol_error:
            break;
    }
    return log::event::opcua_protocol_error;
}

}  // namespace

void opcua_events::happened(opcua::server_event event, const opcua::event_facts& facts) noexcept {
    const std::string_view peer = facts.peer;
    const std::size_t colon = peer.rfind(':');
    const std::string_view host = peer.substr(0, colon);
    const std::string_view port =
        colon == std::string_view::npos ? std::string_view{} : peer.substr(colon + 1);
    const log::event code = event_of(event);
    switch (event) {
        case opcua::server_event::channel_opened:
        case opcua::server_event::channel_closed:
            logger_.write(code, {{"client", host}, {"port", port}, {"channel", facts.channel_id}});
            return;
        case opcua::server_event::protocol_error:
            logger_.write(
                code,
                {{"client", host}, {"port", port}, {"reason", opcua::status_name(facts.result)}});
            return;
        default:
            logger_.write(code, {{"client", host},
                                 {"port", port},
                                 {"session", facts.session_id},
                                 {"name", facts.session_name},
                                 {"application", facts.client_uri},
                                 {"user", facts.user.empty() ? "anonymous" : facts.user}});
    }
}

}  // namespace tagferry::gateway
