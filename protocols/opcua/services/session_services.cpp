// CreateSession, ActivateSession and CloseSession of the Session service set (Part 4 §5.6).
#include "protocols/opcua/services/endpoints.hpp"
#include "protocols/opcua/services/service.hpp"
#include "protocols/opcua/session/identity_token.hpp"
#include "transport/memory/random.hpp"

#include <chrono>
#include <string>

namespace tagferry::opcua {
namespace {

struct create_request {
    text_view client_uri{};
    text_view server_uri{};
    text_view endpoint_url{};
    text_view session_name{};
    double timeout_ms = 0;
    std::uint32_t max_response_size = 0;
};

create_request read_create(decoder& in) noexcept {
    create_request request;
    request.client_uri = in.string();
    in.string();          // productUri
    in.localized_text();  // applicationName
    in.u32();             // applicationType
    in.string();          // gatewayServerUri
    in.string();          // discoveryProfileUri
    in.skip_strings();    // discoveryUrls
    request.server_uri = in.string();
    request.endpoint_url = in.string();
    request.session_name = in.string();
    in.byte_string();  // clientNonce: any length with policy None (E24)
    in.byte_string();  // clientCertificate: proves nothing with policy None
    request.timeout_ms = in.float64();
    request.max_response_size = in.u32();
    return request;
}

void write_signature(encoder& out) noexcept {
    out.string({});
    out.byte_string({});
}

void write_created(service_context& context, const session& made, text_view endpoint_url) {
    encoder& out = context.out;
    context.begin_response();
    out.numeric_id(namespace_server, made.number);
    out.node_id({0,
                 node_id_kind::opaque,
                 0,
                 {reinterpret_cast<const char*>(made.token.data()), made.token.size()}});
    out.float64(std::chrono::duration<double, std::milli>{made.timeout}.count());
    out.byte_string(made.server_nonce);
    out.byte_string({});  // serverCertificate
    write_endpoints(context, endpoint_url);
    out.u32(0);  // serverSoftwareCertificates
    write_signature(out);
    out.u32(context.server.bounds.max_request_size);
}

}  // namespace

step create_session(service_context& context) {
    const create_request request = read_create(context.in);
    if (!context.in.ok()) {
        return context.fail(context.in.status());
    }
    server_state& server = context.server;
    if (!server.ports.configuration.current().allow_none_policy) {
        return context.fail(status::bad_security_policy_rejected);
    }
    const text_view own = server.ports.identity.who_we_are().application_uri;
    if (!request.server_uri.empty() && request.server_uri != own) {
        return context.fail(status::bad_server_uri_invalid);
    }
    if (request.session_name.size() > server.bounds.max_session_name_length) {
        return context.fail(status::bad_invalid_argument);
    }
    session* const made = server.sessions.create(request.timeout_ms, context.now);
    if (made == nullptr) {
        server.counted.sessions_rejected.add(1);
        return context.fail(status::bad_too_many_sessions);
    }
    made->channel_id = context.channel.id;
    made->name = request.session_name.empty() ? "Session " + std::to_string(made->number)
                                              : std::string{request.session_name};
    made->client_uri = std::string{request.client_uri};
    made->max_response_size = request.max_response_size;
    transport::fill_random(made->server_nonce);
    server.counted.sessions.add(1);
    server.counted.sessions_created.add(1);
    server.tell(server_event::session_created, *made, context.channel.peer);
    write_created(context, *made, request.endpoint_url);
    return step::finished;
}

step activate_session(service_context& context) {
    decoder& in = context.in;
    in.string();  // clientSignature: nothing to sign with policy None
    in.byte_string();
    for (std::uint32_t left = in.array_length(8); left != 0 && in.ok(); --left) {
        in.byte_string();  // clientSoftwareCertificates: retired, passed over
        in.byte_string();
    }
    decoder locales = in;
    in.skip_strings();
    const extension_object_view token = in.extension_object();
    in.string();  // userTokenSignature
    in.byte_string();
    if (!in.ok()) {
        return context.fail(in.status());
    }
    session& who = *context.who;
    const bool moves = who.channel_id != context.channel.id;
    if (moves && !who.activated) {
        return context.fail(status::bad_secure_channel_id_invalid);
    }
    user_identity user;
    const limits& bounds = context.server.bounds;
    const status_code outcome =
        read_identity(token, context.server.ports.configuration.current(), bounds, user);
    if (outcome != status::good) {
        context.server.counted.sessions_rejected.add(1);
        context.server.counted.sessions_rejected_access.add(1);
        return context.fail(outcome);
    }
    if (moves && user.user != who.user) {
        return context.fail(status::bad_user_access_denied);  // E09
    }
    who.channel_id = context.channel.id;
    who.activated = true;
    who.user = std::string{user.user};
    who.roles = user.roles;
    session_table::touch(who, context.now);
    context.server.tell(server_event::session_activated, who, context.channel.peer);
    std::uint32_t count = locales.array_length(4);
    if (count != 0) {
        // An empty list keeps what was asked for before.
        who.locale_ids.clear();
    }
    for (; count != 0 && who.locale_ids.size() < bounds.max_locale_ids; --count) {
        const text_view locale = locales.string();
        who.locale_ids.emplace_back(locale.substr(0, bounds.max_locale_length));
    }
    transport::fill_random(who.server_nonce);
    context.begin_response();
    context.out.byte_string(who.server_nonce);
    context.out.u32(0);  // results
    context.out.u32(0);  // diagnosticInfos
    return step::finished;
}

step close_session(service_context& context) {
    const bool delete_subscriptions = context.in.boolean();
    if (!context.in.ok()) {
        return context.fail(context.in.status());
    }
    if (context.who->channel_id != context.channel.id) {
        return context.fail(status::bad_secure_channel_id_invalid);
    }
    context.server.tell(server_event::session_closed, *context.who, context.channel.peer);
    context.server.end_session(*context.who, delete_subscriptions, context.now);
    context.op.who = nullptr;
    context.begin_response();
    return step::finished;
}

}  // namespace tagferry::opcua
