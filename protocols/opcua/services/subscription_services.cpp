// CreateSubscription, ModifySubscription, SetPublishingMode, DeleteSubscriptions and
// TransferSubscriptions of the Subscription service set (Part 4 §5.14).
#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {
namespace {

void write_revised(encoder& out, const subscription_parameters& revised) noexcept {
    out.float64(revised.publishing_interval_ms);
    out.u32(revised.lifetime_count);
    out.u32(revised.keep_alive_count);
}

// A list of SubscriptionIds, each answered by `act(id)`, which writes its result.
template <typename Act>
step for_each_id(service_context& context, Act&& act) {
    operation& op = context.op;
    if (!op.begun) {
        const status_code outcome = context.begin_list(4);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
        context.begin_response();
        context.out.u32(op.list.count);
    }
    for (; op.list.next < op.list.count; ++op.list.next) {
        if (!context.budget.spend()) {
            return context.yield();
        }
        const std::uint32_t id = context.in.u32();
        if (!context.in.ok() || !context.out.ok()) {
            return context.fail(context.in.ok() ? context.out.status() : context.in.status());
        }
        act(id);
    }
    context.out.u32(0);  // diagnosticInfos
    return step::finished;
}

}  // namespace

step create_subscription(service_context& context) {
    decoder& in = context.in;
    subscription_parameters wanted;
    wanted.publishing_interval_ms = in.float64();
    wanted.lifetime_count = in.u32();
    wanted.keep_alive_count = in.u32();
    wanted.max_notifications = in.u32();
    const bool enabled = in.boolean();
    wanted.priority = in.u8();
    if (!in.ok()) {
        return context.fail(in.status());
    }
    const subscription* const made =
        context.server.publishing.create(*context.who, wanted, enabled, context.now);
    if (made == nullptr) {
        return context.fail(status::bad_too_many_subscriptions);
    }
    context.begin_response();
    context.out.u32(made->id);
    write_revised(context.out, wanted);
    return step::finished;
}

step modify_subscription(service_context& context) {
    decoder& in = context.in;
    const std::uint32_t id = in.u32();
    subscription_parameters wanted;
    wanted.publishing_interval_ms = in.float64();
    wanted.lifetime_count = in.u32();
    wanted.keep_alive_count = in.u32();
    wanted.max_notifications = in.u32();
    wanted.priority = in.u8();
    if (!in.ok()) {
        return context.fail(in.status());
    }
    subscription* const found = context.server.publishing.find(*context.who, id);
    if (found == nullptr) {
        return context.fail(status::bad_subscription_id_invalid);
    }
    context.server.publishing.modify(*found, wanted, context.now);
    context.begin_response();
    write_revised(context.out, wanted);
    return step::finished;
}

step set_publishing_mode(service_context& context) {
    if (!context.op.begun) {
        context.op.items.mode = context.in.boolean() ? 1 : 0;
    }
    return for_each_id(context, [&](std::uint32_t id) {
        subscription* const found = context.server.publishing.find(*context.who, id);
        if (found != nullptr) {
            found->publishing_enabled = context.op.items.mode != 0;
        }
        context.out.u32(found == nullptr ? status::bad_subscription_id_invalid : status::good);
    });
}

step delete_subscriptions(service_context& context) {
    return for_each_id(context, [&](std::uint32_t id) {
        subscription* const found = context.server.publishing.find(*context.who, id);
        if (found != nullptr) {
            context.server.publishing.remove(*found, context.now);
        }
        context.out.u32(found == nullptr ? status::bad_subscription_id_invalid : status::good);
    });
}

step transfer_subscriptions(service_context& context) {
    operation& op = context.op;
    if (!op.begun) {
        // Whether to send initial values stands behind the list.
        decoder ahead = context.in;
        for (std::uint32_t left = ahead.array_length(4); left != 0 && ahead.ok(); --left) {
            ahead.u32();
        }
        op.items.mode = ahead.boolean() ? 1 : 0;
        if (!ahead.ok()) {
            return context.fail(ahead.status());
        }
    }
    return for_each_id(context, [&](std::uint32_t id) {
        subscription* moved = nullptr;
        const status_code outcome = context.server.publishing.transfer(
            *context.who, id, op.items.mode != 0, context.now, moved);
        context.out.u32(outcome);
        if (moved != nullptr) {
            context.server.publishing.write_available(*moved, context.out);
        } else {
            context.out.u32(0);
        }
    });
}

}  // namespace tagferry::opcua
