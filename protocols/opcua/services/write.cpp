// Write of the Attribute service set (Part 4 §5.10.4): always a pending operation when anything is
// sent, since only the device knows what became of it.
#include "protocols/opcua/encoding/index_range.hpp"
#include "protocols/opcua/encoding/slot_form.hpp"
#include "protocols/opcua/nodes/attributes.hpp"
#include "protocols/opcua/services/service.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

namespace tagferry::opcua {
namespace {

// NodeId, attribute id, index range, the mask of an empty DataValue.
constexpr std::size_t smallest_write_value = 2 + 4 + 4 + 1;

constexpr std::uint32_t value_attribute = static_cast<std::uint32_t>(attribute::value);

struct write_value {
    node_id_view node{};
    std::uint32_t attribute_id = 0;
    text_view range{};
    data_value_view value{};
};

write_value next_item(decoder& in) noexcept {
    write_value item;
    item.node = in.node_id();
    item.attribute_id = in.u32();
    item.range = in.string();
    item.value = in.data_value();
    return item;
}

// Only values of tags are ever writable; an attribute that the node does not have is told apart.
status_code refuse_other_than_tag(service_context& context, const node_key& node,
                                  std::uint32_t attribute_id) {
    encoder scratch{context.server.attribute_scratch};
    const status_code there = write_attribute(scratch, context.server.view(), context.caller, node,
                                              attribute_id, context.op.wall_now);
    return there == status::bad_attribute_id_invalid || there == status::bad_node_id_unknown
               ? there
               : status_code{status::bad_not_writable};
}

// A device keeps neither status nor timestamps (E65). Good is what no status means.
status_code check_only_value(const data_value_view& value) noexcept {
    return value.status != status::good || value.has_source_timestamp || value.has_server_timestamp
               ? status_code{status::bad_write_not_supported}
               : status_code{status::good};
}

// How many elements the value must have: those of the range, else those of the tag.
status_code read_range(text_view text, const tree_node& tag, element_range& out,
                       std::int32_t& elements) noexcept {
    index_range range;
    const status_code valid = read_index_range(text, range);
    elements = tag.array_length;
    if (valid != status::good || !range.present) {
        return valid;
    }
    if (tag.array_length < 0 || range.dimensions != 1 ||
        range.last >= static_cast<std::uint32_t>(tag.array_length)) {
        return status::bad_index_range_no_data;
    }
    out = {range.first, range.last};
    elements = static_cast<std::int32_t>(range.last - range.first + 1);
    return status::good;
}

// The variant lies in the copy of the request, which is this operation's own: the slot form takes
// its place.
status_code to_slot(operation& op, const variant_view& value, const tree_node& tag,
                    const element_range& range, std::int32_t elements, value_view& out) noexcept {
    const bool bytes = tag.type == builtin_type::byte && tag.array_length >= 0 &&
                       value.type == builtin_type::byte_string && !value.is_array;
    if (!bytes && (value.type != tag.type || value.is_array != (tag.array_length >= 0) ||
                   value.dimensions.size() > sizeof(std::int32_t))) {
        return status::bad_type_mismatch;
    }
    const status_code wrong_length =
        range.whole() ? status::bad_type_mismatch : status::bad_index_range_data_mismatch;
    if (value.elements.empty()) {
        return wrong_length;
    }
    const auto at = static_cast<std::size_t>(value.elements.data() - op.kept_body().data());
    const std::span<std::byte> memory = op.request.bytes().subspan(at, value.elements.size());
    const status_code converted =
        bytes ? byte_string_to_slot(memory, out) : variant_to_slot(value, memory, out);
    return converted != status::good || out.array_length == elements ? converted : wrong_length;
}

status_code check_item(service_context& context, const write_value& item, write_item& out) {
    node_key node;
    const status_code found = resolve(context, item.node, node);
    if (found != status::good) {
        return found;
    }
    tree_node tag;
    if (!node.is_tag() || item.attribute_id != value_attribute) {
        return refuse_other_than_tag(context, node, item.attribute_id);
    }
    if (!context.server.ports.browse.describe(context.caller, node.tree, tag)) {
        return status::bad_node_id_unknown;
    }
    if (!tag.writable) {
        return status::bad_not_writable;
    }
    if (!context.caller.who.has(role::operator_)) {
        return status::bad_user_access_denied;
    }
    std::int32_t elements = -1;
    status_code outcome = read_range(item.range, tag, out.range, elements);
    if (outcome == status::good) {
        outcome = check_only_value(item.value);
    }
    if (outcome == status::good) {
        out.handle = node.tree.tag();
        outcome = to_slot(context.op, item.value.value, tag, out.range, elements, out.value);
    }
    return outcome;
}

step begin(service_context& context) {
    operation& op = context.op;
    const status_code list = context.begin_list(smallest_write_value);
    if (list != status::good) {
        return context.fail(list);
    }
    transport::pooled_buffer memory;
    if (context.may_defer()) {
        memory = context.server.write_lists.rent();
    }
    if (!memory) {
        return context.fail(status::bad_resource_unavailable);
    }
    op.begun = true;
    op.write = write_stage::checking;
    op.writes.open(std::move(memory), op.list.count);
    op.list.position = context.in.position();
    return step::kept;
}

step answer(service_context& context) {
    context.begin_response();
    context.out.u32(context.op.list.count);
    context.op.writes.for_each_result([&](status_code each) { context.out.u32(each); });
    context.out.u32(0);  // diagnosticInfos
    return context.out.ok() ? step::finished : context.fail(context.out.status());
}

// Everything is sent in one go: from here on losing the client drops the answer, never a write.
step send(service_context& context) {
    operation& op = context.op;
    if (op.writes.items().empty()) {
        return answer(context);
    }
    op.write = write_stage::waiting;
    if (!context.server.ports.writes.start_write(context.caller, op.writes.items(),
                                                 op.writes.outcomes())) {
        for (status_code& each : op.writes.outcomes()) {
            each = status::bad_resource_unavailable;
        }
        return answer(context);
    }
    // The backend keeps the deadline, and its outcomes say more than a timeout of ours would.
    op.deadline = transport::time_point::max();
    return step::deferred;
}

}  // namespace

step write(service_context& context) {
    operation& op = context.op;
    if (!op.begun) {
        return begin(context);
    }
    if (op.write == write_stage::waiting) {
        return answer(context);
    }
    for (; op.list.next < op.list.count; ++op.list.next) {
        if (!context.budget.spend()) {
            return context.yield();
        }
        const write_value item = next_item(context.in);
        if (!context.in.ok()) {
            return context.fail(context.in.status());
        }
        write_item checked;
        const status_code outcome = check_item(context, item, checked);
        if (outcome == status::good) {
            op.writes.send(checked);
        } else {
            op.writes.refuse(outcome);
        }
    }
    return send(context);
}

}  // namespace tagferry::opcua
