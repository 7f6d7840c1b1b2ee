// Publish and Republish of the Subscription service set (Part 4 §5.14.5, §5.14.6).
#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {

step publish(service_context& context) {
    decoder& in = context.in;
    subscriptions& publishing = context.server.publishing;
    const std::uint32_t count = in.array_length(8);
    if (in.ok() && count > context.server.bounds.max_acknowledgements) {
        return context.fail(status::bad_too_many_operations);
    }
    if (!in.ok()) {
        return context.fail(in.status());
    }
    // Acknowledgements count even when the Publish itself is refused.
    publish_request request;
    for (std::uint32_t left = count; left != 0; --left) {
        const std::uint32_t id = in.u32();
        const std::uint32_t sequence = in.u32();
        if (!in.ok()) {
            return context.fail(in.status());
        }
        request.add_result(publishing.acknowledge(*context.who, id, sequence));
    }
    if (!publishing.may_hold(*context.who)) {
        return context.fail(status::bad_no_subscription);
    }
    request.channel = context.channel.publishing;
    request.channel_id = context.channel.id;
    request.request_id = context.op.request_id;
    request.request_handle = context.op.request_handle;
    request.deadline = context.op.deadline;
    return publishing.hold(*context.who, request, context.now)
               ? step::held
               : context.fail(status::bad_too_many_publish_requests);
}

step republish(service_context& context) {
    const std::uint32_t id = context.in.u32();
    const std::uint32_t sequence = context.in.u32();
    if (!context.in.ok()) {
        return context.fail(context.in.status());
    }
    subscriptions& publishing = context.server.publishing;
    const subscription* const found = publishing.find(*context.who, id);
    if (found == nullptr) {
        return context.fail(status::bad_subscription_id_invalid);
    }
    context.begin_response();
    return publishing.republish(*found, sequence, context.out)
               ? step::finished
               : context.fail(status::bad_message_not_available);
}

}  // namespace tagferry::opcua
