#include "protocols/opcua/services/endpoints.hpp"

#include "protocols/opcua/channel/open_message.hpp"
#include "protocols/opcua/session/identity_token.hpp"

#include <algorithm>

namespace tagferry::opcua {
namespace {

constexpr std::uint32_t application_type_server = 0;
constexpr std::uint32_t token_type_anonymous = 0;

// Calls `visit` with each URL to tell the client: the one it dialled first (E31).
template <typename Visit>
void for_each_url(service_context& context, text_view dialled, Visit&& visit) {
    const bool usable = is_usable_url(dialled, context.server.bounds);
    if (usable) {
        visit(dialled);
    }
    for (const std::string_view url : context.server.ports.identity.endpoint_urls()) {
        if (!usable || url != dialled) {
            visit(text_view{url});
        }
    }
}

template <typename Each>
void write_urls(service_context& context, text_view dialled, Each&& each) {
    std::byte* const count_at = context.out.reserve<std::uint32_t>();
    std::uint32_t count = 0;
    for_each_url(context, dialled, [&](text_view url) {
        each(url);
        ++count;
    });
    encoder::patch(count_at, count);
}

void write_user_token_policies(service_context& context) {
    encoder& out = context.out;
    const bool anonymous = context.server.ports.configuration.current().allow_anonymous;
    out.u32(anonymous ? 1 : 0);
    if (anonymous) {
        out.string(anonymous_policy_id);
        out.u32(token_type_anonymous);
        out.string({});  // issuedTokenType
        out.string({});  // issuerEndpointUrl
        out.string({});  // securityPolicyUri
    }
}

}  // namespace

bool is_usable_url(text_view url, const limits& bounds) noexcept {
    constexpr text_view scheme = "opc.tcp://";
    if (url.size() > bounds.max_url_length || !url.starts_with(scheme)) {
        return false;
    }
    const bool plain =
        std::all_of(url.begin(), url.end(), [](char each) { return each > ' ' && each < '\x7F'; });
    text_view rest = url.substr(scheme.size());
    const text_view authority = rest.substr(0, rest.find('/'));
    const text_view host = authority.starts_with('[') ? authority.substr(0, authority.find(']') + 1)
                                                      : authority.substr(0, authority.find(':'));
    return plain && !host.empty() && host != "0.0.0.0" && host != "[::]" &&
           authority.find('@') == text_view::npos;
}

void write_application(service_context& context, text_view dialled) {
    const identity& self = context.server.ports.identity.who_we_are();
    encoder& out = context.out;
    out.string(self.application_uri);
    out.string(self.product_uri);
    out.localized_text(self.application_name);
    out.u32(application_type_server);
    out.string({});  // gatewayServerUri
    out.string({});  // discoveryProfileUri
    write_urls(context, dialled, [&](text_view url) { out.string(url); });
}

void write_endpoints(service_context& context, text_view dialled) {
    encoder& out = context.out;
    if (!context.server.ports.configuration.current().allow_none_policy) {
        out.u32(0);
        return;
    }
    write_urls(context, dialled, [&](text_view url) {
        out.string(url);
        write_application(context, dialled);
        out.byte_string({});  // serverCertificate: none with policy None
        out.u32(static_cast<std::uint32_t>(security_mode::none));
        out.string(policy_none);
        write_user_token_policies(context);
        out.string(binary_transport_profile);
        out.u8(0);  // securityLevel: the least
    });
}

}  // namespace tagferry::opcua
