// RegisterNodes and UnregisterNodes of the View service set (Part 4 §5.8.5, §5.8.6).
#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {
namespace {

bool begin(service_context& context) noexcept {
    const status_code outcome = context.begin_list(2);
    context.op.fault = outcome;
    if (outcome != status::good) {
        return false;
    }
    context.begin_response();
    return true;
}

// A node of the tree gets a number; every other well-formed id comes back unchanged, known or not.
// An id that is already such a number stays as it is.
status_code register_one(service_context& context, const node_id_view& id) {
    node_key node;
    const status_code found = resolve(context, id, node);
    if (found == status::bad_node_id_invalid) {
        return found;
    }
    if (found == status::good && node.in_tree && node.property == 0 &&
        id.kind == node_id_kind::string) {
        const std::uint32_t number = context.server.registered.add(*context.who, node.tree);
        if (number != 0) {
            context.out.numeric_id(namespace_tags, number);
            return status::good;
        }
    }
    context.out.node_id(id);
    return status::good;
}

}  // namespace

step register_nodes(service_context& context) {
    operation& op = context.op;
    if (!op.begun) {
        if (!begin(context)) {
            return step::finished;
        }
        context.out.u32(op.list.count);
    }
    for (; op.list.next < op.list.count; ++op.list.next) {
        if (!context.budget.spend()) {
            return context.yield();
        }
        const node_id_view id = context.in.node_id();
        if (!context.in.ok()) {
            return context.fail(context.in.status());
        }
        const status_code outcome = register_one(context, id);
        if (outcome != status::good || !context.out.ok()) {
            return context.fail(outcome != status::good ? outcome : context.out.status());
        }
    }
    return step::finished;
}

step unregister_nodes(service_context& context) {
    operation& op = context.op;
    if (!op.begun && !begin(context)) {
        return step::finished;
    }
    for (; op.list.next < op.list.count; ++op.list.next) {
        if (!context.budget.spend()) {
            return context.yield();
        }
        const node_id_view id = context.in.node_id();
        if (!context.in.ok()) {
            return context.fail(context.in.status());
        }
        // Unregistering what is not registered is Good, and the source id is not the alias.
        if (id.namespace_index == namespace_tags && id.kind == node_id_kind::numeric) {
            context.server.registered.remove(*context.who, id.number);
        }
    }
    return step::finished;
}

}  // namespace tagferry::opcua
