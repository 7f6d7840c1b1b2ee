// Read of the Attribute service set (Part 4 §5.10.2).
#include "protocols/opcua/encoding/data_value.hpp"
#include "protocols/opcua/encoding/index_range.hpp"
#include "protocols/opcua/nodes/attributes.hpp"
#include "protocols/opcua/services/read_value_id.hpp"
#include "protocols/opcua/services/service.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tagferry::opcua {
namespace {

// The usual item of a client that registered its nodes, in one look: a number of theirs, its Value.
// False, and nothing is read, for any other.
bool take_registered_value(decoder& in, std::uint32_t& number) noexcept {
    constexpr std::size_t id_size = 1 + 2 + 4;
    const bytes_view rest = in.rest();
    if (rest.size() < id_size + plain_value.size() || rest[0] != std::byte{2} ||
        transport::load<std::uint16_t>(rest.data() + 1, std::endian::little) != namespace_tags ||
        std::memcmp(rest.data() + id_size, plain_value.data(), 8) != 0 ||
        std::memcmp(rest.data() + id_size + 6, plain_value.data() + 6, 8) != 0) {
        return false;
    }
    number = transport::load<std::uint32_t>(rest.data() + 3, std::endian::little);
    in.skip_bytes(id_size + plain_value.size());
    return true;
}

void read_tag(service_context& context, data_value_writer& writer, tree_handle tag,
              const index_range& range) {
    server_state& server = context.server;
    sample current;
    if (!server.ports.values.read_current(context.caller, tag.tag(), server.value_scratch,
                                          current)) {
        writer.only_status(status::bad_node_id_unknown, context.op.wall_now);
        return;
    }
    std::uint64_t bits = 0;
    std::size_t size = 0;
    if (!range.present && number_of(current, bits, size)) {
        write_number(context.out, current, bits, size, writer);
        return;
    }
    if (current.value.type == builtin_type::null) {
        writer.begin(false, current.status, current.source_time, current.server_time);
        writer.end();
        return;
    }
    if (!range.present) {
        writer.begin(true, current.status, current.source_time, current.server_time);
        context.out.variant(current.value);
        writer.end();
        return;
    }
    // The part goes through scratch memory, since the mask in front of it says whether it exists.
    encoder part{server.attribute_scratch};
    const status_code outcome = write_part(part, current.value, range);
    if (outcome != status::good || !part.ok()) {
        writer.only_status(outcome != status::good ? outcome : part.status(), context.op.wall_now);
        return;
    }
    writer.begin(true, current.status, current.source_time, current.server_time);
    context.out.raw(std::span{server.attribute_scratch}.first(part.used()));
    writer.end();
}

void read_attribute(service_context& context, data_value_writer& writer, const node_key& node,
                    std::uint32_t attribute_id, const index_range& range) {
    server_state& server = context.server;
    encoder scratch{server.attribute_scratch};
    status_code outcome = write_attribute(scratch, server.view(), context.caller, node,
                                          attribute_id, context.op.wall_now);
    if (outcome == status::good && range.present && attribute_id != value_attribute) {
        outcome = status::bad_index_range_no_data;
    }
    if (outcome == status::good && !scratch.ok()) {
        outcome = scratch.status();
    }
    bytes_view encoded = std::span{server.attribute_scratch}.first(scratch.used());
    encoder part{server.value_scratch};
    if (outcome == status::good && range.present) {
        decoder whole{encoded, server.bounds};
        outcome = write_part(part, whole.variant(), range, server.bounds);
        outcome = outcome == status::good ? part.status() : outcome;
        encoded = std::span{server.value_scratch}.first(part.used());
    }
    if (outcome != status::good) {
        writer.only_status(outcome, context.op.wall_now);
        return;
    }
    // A source timestamp belongs to values only.
    writer.begin(true, status::good, attribute_id == value_attribute ? context.op.wall_now : 0,
                 context.op.wall_now);
    context.out.raw(encoded);
    writer.end();
}

// The whole value of a tag that is one number. False, and nothing is written, for any other.
bool read_number_tag(service_context& context, tree_handle tag, const data_value_writer& form) {
    server_state& server = context.server;
    sample current;
    std::uint64_t bits = 0;
    std::size_t size = 0;
    if (tag.kind != tree_kind::tag ||
        !server.ports.values.read_current(context.caller, tag.tag(), server.value_scratch,
                                          current) ||
        !number_of(current, bits, size)) {
        return false;
    }
    write_number(context.out, current, bits, size, form);
    return true;
}

void read_one(service_context& context, const read_value_id& item) {
    data_value_writer writer{context.out, context.op.read.timestamps};
    node_key node;
    status_code outcome = resolve(context, item.node, node);
    index_range range;
    if (item.is_plain_value && outcome == status::good && node.is_tag()) {
        read_tag(context, writer, node.tree, range);
        return;
    }
    if (outcome == status::good) {
        outcome = check_encoding(item);
    }
    if (outcome == status::good) {
        outcome = read_index_range(item.range, range);
    }
    if (outcome != status::good) {
        writer.only_status(outcome, context.op.wall_now);
    } else if (node.is_tag() && item.attribute_id == value_attribute) {
        read_tag(context, writer, node.tree, range);
    } else {
        read_attribute(context, writer, node, item.attribute_id, range);
    }
}

// Reads the next item of the request.
void read_next(service_context& context, const data_value_writer& form) {
    server_state& server = context.server;
    read_value_id item;
    std::uint32_t number = 0;
    tree_handle tag;
    if (take_registered_value(context.in, number)) {
        if (server.registered.find(*context.who, number, tag) &&
            read_number_tag(context, tag, form)) {
            return;
        }
        item.node = {namespace_tags, node_id_kind::numeric, number, {}};
        item.is_plain_value = true;
    } else {
        item = read_value_id_of(context.in);
        if (item.is_plain_value && item.node.kind == node_id_kind::string &&
            item.node.namespace_index == namespace_tags &&
            server.ports.browse.find(context.caller, item.node.bytes, tag) &&
            read_number_tag(context, tag, form)) {
            return;
        }
    }
    if (context.in.ok()) {
        read_one(context, item);
    }
}

// maxAge 0: the next items' tags are asked of their devices, a batch at a time, so that neither
// the asking nor the answering of one batch exceeds a turn.
bool ask_devices(service_context& context) {
    server_state& server = context.server;
    operation& op = context.op;
    decoder ahead = context.in;
    std::size_t tags = 0;
    const std::uint32_t end = std::min<std::uint32_t>(
        op.list.count, op.list.next + static_cast<std::uint32_t>(device_batch));
    for (; op.read.asked < end && ahead.ok(); ++op.read.asked) {
        const read_value_id item = read_value_id_of(ahead);
        node_key node;
        if (item.attribute_id == value_attribute &&
            resolve(context, item.node, node) == status::good && node.is_tag()) {
            server.device_scratch[tags++] = node.tree.tag();
        }
    }
    if (tags == 0) {
        return false;
    }
    if (op.phase == operation_phase::running && !context.may_defer()) {
        return false;
    }
    return server.ports.values.read_device(context.caller,
                                           std::span{server.device_scratch}.first(tags));
}

status_code begin(service_context& context) noexcept {
    operation& op = context.op;
    const double max_age = context.in.float64();
    op.read = {};
    op.read.timestamps = context.in.u32();
    const status_code list = context.begin_list(smallest_read_value_id);
    if (!context.in.ok()) {
        return list;
    }
    if (!(max_age >= 0)) {
        return status::bad_max_age_invalid;
    }
    if (op.read.timestamps > timestamps_neither) {
        return status::bad_timestamps_to_return_invalid;
    }
    if (list != status::good) {
        return list;
    }
    op.read.from_device = max_age == 0;
    op.list.position = context.in.position();
    return status::good;
}

}  // namespace

step read(service_context& context) {
    operation& op = context.op;
    if (!op.begun) {
        const status_code outcome = begin(context);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
        context.begin_response();
        context.out.u32(op.list.count);
    }
    const data_value_writer form{context.out, op.read.timestamps};
    while (op.list.next < op.list.count) {
        if (op.read.from_device && op.list.next == op.read.asked && ask_devices(context)) {
            op.list.position = context.in.position();
            return step::deferred;
        }
        if (!context.budget.spend()) {
            return context.yield();
        }
        read_next(context, form);
        if (!context.in.ok()) {
            return context.fail(context.in.status());
        }
        if (!context.out.ok()) {
            return context.fail(context.out.status());
        }
        ++op.list.next;
    }
    context.out.u32(0);  // diagnosticInfos
    return step::finished;
}

}  // namespace tagferry::opcua
