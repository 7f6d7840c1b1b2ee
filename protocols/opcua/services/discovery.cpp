// FindServers and GetEndpoints of the Discovery service set (Part 4 §5.4.2, §5.4.4). They work
// before a session, and nonsense in them is no reason to refuse (E32).
#include "protocols/opcua/services/endpoints.hpp"
#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {
namespace {

// The URL that the request names, else the one the Hello named.
text_view dialled_url(service_context& context) noexcept {
    const text_view url = context.in.string();
    return url.empty() ? text_view{context.channel.endpoint_url} : url;
}

// Whether an array of String is empty or holds `wanted`.
bool empty_or_holds(decoder& in, text_view wanted) noexcept {
    const std::uint32_t count = in.array_length(4);
    bool holds = count == 0;
    for (std::uint32_t at = 0; at < count && in.ok(); ++at) {
        holds = in.string() == wanted || holds;
    }
    return holds;
}

}  // namespace

step find_servers(service_context& context) {
    const text_view url = dialled_url(context);
    context.in.skip_strings();  // localeIds
    const text_view own = context.server.ports.identity.who_we_are().application_uri;
    const bool wanted = empty_or_holds(context.in, own);
    if (!context.in.ok()) {
        return context.fail(context.in.status());
    }
    context.begin_response();
    context.out.u32(wanted ? 1 : 0);
    if (wanted) {
        write_application(context, url);
    }
    return step::finished;
}

step get_endpoints(service_context& context) {
    const text_view url = dialled_url(context);
    context.in.skip_strings();  // localeIds
    const bool wanted = empty_or_holds(context.in, binary_transport_profile);
    if (!context.in.ok()) {
        return context.fail(context.in.status());
    }
    context.begin_response();
    if (wanted) {
        write_endpoints(context, url);
    } else {
        context.out.u32(0);
    }
    return step::finished;
}

}  // namespace tagferry::opcua
