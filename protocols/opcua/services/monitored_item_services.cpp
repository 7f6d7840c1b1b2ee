// The MonitoredItem service set (Part 4 §5.13).
#include "protocols/opcua/encoding/data_value.hpp"
#include "protocols/opcua/services/read_value_id.hpp"
#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {
namespace {

// ReadValueId, mode, handle, interval, filter, queue size, discardOldest.
constexpr std::size_t smallest_create = smallest_read_value_id + 4 + 4 + 8 + 3 + 4 + 1;
constexpr std::size_t smallest_modify = 4 + 4 + 8 + 3 + 4 + 1;

subscription* owner(service_context& context) noexcept {
    return context.server.publishing.find(*context.who, context.op.items.subscription_id);
}

monitoring_parameters read_parameters(decoder& in, const limits& bounds) noexcept {
    monitoring_parameters out;
    out.client_handle = in.u32();
    out.sampling_ms = in.float64();
    out.filter_status = read_filter(in.extension_object(), bounds, out.filter);
    out.queue_size = in.u32();
    out.discard_oldest = in.boolean();
    return out;
}

void write_answer(encoder& out, status_code outcome, const item_answer& made) noexcept {
    out.u32(outcome);
    out.u32(made.id);
    out.float64(made.revised_sampling_ms);
    out.u32(made.revised_queue_size);
    out.null_extension_object();  // filterResult: data change filters have none
}

// What is wrong is told in the order in which a client would want to hear it: first the service's
// own parameters, then the subscription.
status_code begin(service_context& context, std::size_t smallest, std::uint32_t most_mode,
                  status_code bad_mode) noexcept {
    operation& op = context.op;
    op.items = {};
    op.items.subscription_id = context.in.u32();
    op.items.mode = most_mode == 0 ? 0 : context.in.u32();
    const status_code list = context.begin_list(smallest);
    if (list != status::good) {
        return list;
    }
    if (op.items.mode > most_mode) {
        return bad_mode;
    }
    return owner(context) == nullptr ? status_code{status::bad_subscription_id_invalid}
                                     : status_code{status::good};
}

// Runs `act(subscription)` for every item of the list; it reads the item and writes its result.
template <typename Act>
step for_each_item(service_context& context, Act&& act) {
    operation& op = context.op;
    if (!op.begun) {
        context.begin_response();
        context.out.u32(op.list.count);
    }
    subscription* const of = owner(context);
    if (of == nullptr) {
        return context.fail(status::bad_subscription_id_invalid);  // deleted meanwhile
    }
    for (; op.list.next < op.list.count; ++op.list.next) {
        if (!context.budget.spend()) {
            return context.yield();
        }
        act(*of);
        if (!context.in.ok() || !context.out.ok()) {
            return context.fail(context.in.ok() ? context.out.status() : context.in.status());
        }
    }
    context.out.u32(0);  // diagnosticInfos
    context.server.publishing.items_changed(context.now);
    return step::finished;
}

status_code create_one(service_context& context, subscription& to, item_answer& made) {
    const read_value_id item = read_value_id_of(context.in);
    item_request wanted;
    const std::uint32_t mode = context.in.u32();
    wanted.parameters = read_parameters(context.in, context.server.bounds);
    if (!context.in.ok()) {
        return context.in.status();
    }
    wanted.attribute_id = item.attribute_id;
    wanted.timestamps = static_cast<std::uint8_t>(context.op.items.mode);
    wanted.mode = static_cast<monitoring_mode>(mode);
    status_code outcome = resolve(context, item.node, wanted.node);
    if (outcome == status::good) {
        outcome = check_encoding(item);
    }
    if (outcome == status::good) {
        outcome = read_index_range(item.range, wanted.range);
    }
    if (outcome == status::good && mode > static_cast<std::uint32_t>(monitoring_mode::reporting)) {
        outcome = status::bad_monitoring_mode_invalid;
    }
    return outcome != status::good
               ? outcome
               : context.server.publishing.items().create(context.caller, to, wanted, made);
}

}  // namespace

step create_monitored_items(service_context& context) {
    if (!context.op.begun) {
        const status_code outcome = begin(context, smallest_create, timestamps_neither,
                                          status::bad_timestamps_to_return_invalid);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
    }
    return for_each_item(context, [&](subscription& to) {
        item_answer made;
        const status_code outcome = create_one(context, to, made);
        write_answer(context.out, outcome, outcome == status::good ? made : item_answer{});
    });
}

step modify_monitored_items(service_context& context) {
    if (!context.op.begun) {
        const status_code outcome = begin(context, smallest_modify, timestamps_neither,
                                          status::bad_timestamps_to_return_invalid);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
    }
    return for_each_item(context, [&](subscription& of) {
        const std::uint32_t id = context.in.u32();
        const monitoring_parameters wanted = read_parameters(context.in, context.server.bounds);
        if (!context.in.ok()) {
            return;
        }
        item_answer made;
        const status_code outcome = context.server.publishing.items().modify(
            context.caller, of, id, static_cast<std::uint8_t>(context.op.items.mode), wanted, made);
        context.out.u32(outcome);
        context.out.float64(made.revised_sampling_ms);
        context.out.u32(made.revised_queue_size);
        context.out.null_extension_object();
    });
}

step set_monitoring_mode(service_context& context) {
    if (!context.op.begun) {
        const status_code outcome =
            begin(context, 4, static_cast<std::uint32_t>(monitoring_mode::reporting),
                  status::bad_monitoring_mode_invalid);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
    }
    return for_each_item(context, [&](subscription& of) {
        const std::uint32_t id = context.in.u32();
        if (context.in.ok()) {
            context.out.u32(context.server.publishing.items().set_mode(
                context.caller, of, id, static_cast<monitoring_mode>(context.op.items.mode)));
        }
    });
}

step delete_monitored_items(service_context& context) {
    if (!context.op.begun) {
        const status_code outcome = begin(context, 4, 0, status::good);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
    }
    return for_each_item(context, [&](subscription& of) {
        const std::uint32_t id = context.in.u32();
        if (context.in.ok()) {
            context.out.u32(context.server.publishing.items().remove(context.caller, of, id));
        }
    });
}

namespace {

// Both lists are checked before anything is done; the first one is passed over, because what is to
// be removed comes first.
status_code begin_triggering(service_context& context) noexcept {
    operation& op = context.op;
    decoder& in = context.in;
    op.items = {};
    op.list = {};
    op.items.subscription_id = in.u32();
    op.items.triggering = in.u32();
    op.items.to_add = in.array_length(4);
    op.items.add_position = in.position();
    in.bytes(std::size_t{4} * op.items.to_add);
    op.list.count = in.array_length(4);
    if (!in.ok()) {
        return in.status();
    }
    const std::uint64_t links = std::uint64_t{op.items.to_add} + op.list.count;
    if (links == 0) {
        return status::bad_nothing_to_do;
    }
    if (links > context.server.bounds.max_monitored_items_per_call) {
        return status::bad_too_many_operations;
    }
    const subscription* const of = owner(context);
    if (of == nullptr) {
        return status::bad_subscription_id_invalid;
    }
    return context.server.publishing.items().has(*of, op.items.triggering)
               ? status_code{status::good}
               : status_code{status::bad_monitored_item_id_invalid};
}

// The results of adding stand first and are known last: room is left for them.
void begin_triggering_response(service_context& context) noexcept {
    context.begin_response();
    context.out.u32(context.op.items.to_add);
    context.op.items.results_position = context.op.response.position();
    for (std::uint32_t left = context.op.items.to_add; left != 0; --left) {
        context.out.u32(0);
    }
    context.out.u32(0);  // addDiagnosticInfos
    context.out.u32(context.op.list.count);
}

}  // namespace

step set_triggering(service_context& context) {
    operation& op = context.op;
    monitor& items = context.server.publishing.items();
    if (!op.begun) {
        const status_code outcome = begin_triggering(context);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
        begin_triggering_response(context);
    }
    subscription* const of = owner(context);
    if (of == nullptr || !context.out.ok()) {
        return context.fail(of == nullptr ? status_code{status::bad_subscription_id_invalid}
                                          : context.out.status());
    }
    for (; op.list.next < op.list.count; ++op.list.next) {
        if (!context.budget.spend()) {
            return context.yield();
        }
        context.out.u32(items.unlink(*of, op.items.triggering, context.in.u32()));
    }
    if (!op.items.is_adding && op.items.to_add != 0) {
        // Back to the first list, which is shown from there in the next turn.
        op.items.is_adding = true;
        op.list.position = op.items.add_position;
        return step::yielded;
    }
    for (; op.items.added < op.items.to_add; ++op.items.added) {
        if (!context.budget.spend()) {
            return context.yield();
        }
        const status_code outcome = items.link(*of, op.items.triggering, context.in.u32());
        op.response.overwrite(op.items.results_position + std::size_t{4} * op.items.added, outcome);
    }
    context.out.u32(0);  // removeDiagnosticInfos
    return context.out.ok() ? step::finished : context.fail(context.out.status());
}

}  // namespace tagferry::opcua
