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

void read_tag(service_context& context, data_value_writer& writer, tree_handle tag,
              const index_range& range) {
    server_state& server = context.server;
    sample current;
    if (!server.ports.values.read_current(context.caller, tag.tag(), server.value_scratch,
                                          current)) {
        writer.only_status(status::bad_node_id_unknown, context.op.wall_now);
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

// Any item. What is rare stays out of the way of what is not.
[[gnu::noinline]] void read_one(service_context& context, data_value_writer writer) {
    const read_value_id item = read_value_id_of(context.in);
    if (!context.in.ok()) {
        return;
    }
    node_key node;
    status_code outcome = resolve(context, item.node, node);
    index_range range;
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

// The first three bytes of a tag's NodeId: the form and the namespace.
constexpr std::uint32_t by_number = 2U | std::uint32_t{namespace_tags} << 8U;
constexpr std::uint32_t by_path = 3U | std::uint32_t{namespace_tags} << 8U;
// They and a number, or the length of a path.
constexpr std::size_t head_size = 7;
constexpr std::size_t least_item = head_size + plain_value.size();

std::uint32_t word(const std::byte* at) noexcept {
    return transport::load<std::uint32_t>(at, std::endian::little);
}

bool is_plain_value(const std::byte* at) noexcept {
    return std::memcmp(at, plain_value.data(), 8) == 0 &&
           std::memcmp(at + 6, plain_value.data() + 6, 8) == 0;
}

// The next items as far as they are whole Values of tags named by registered numbers, with their
// nodes.
std::size_t take_numbers(service_context& context, std::size_t most) noexcept {
    server_state& server = context.server;
    const bytes_view rest = context.in.rest();
    std::size_t count = 0;
    std::size_t at = 0;
    for (; count < most && rest.size() - at >= least_item; ++count, at += least_item) {
        const std::byte* const item = rest.data() + at;
        if ((word(item) & 0xFF'FFFFU) != by_number || !is_plain_value(item + head_size)) {
            break;
        }
        tree_handle& node = server.reading.nodes[count];
        if (!server.registered.find(*context.who, word(item + 3), node)) {
            node = tree_root;
        }
    }
    context.in.skip_bytes(at);
    return count;
}

// The same for tags named by their paths.
std::size_t take_paths(service_context& context, std::size_t most) {
    server_state& server = context.server;
    const bytes_view rest = context.in.rest();
    std::size_t count = 0;
    std::size_t at = 0;
    for (; count < most && rest.size() - at >= least_item; ++count) {
        const std::byte* const item = rest.data() + at;
        const std::uint32_t length = word(item + 3);
        if ((word(item) & 0xFF'FFFFU) != by_path || length == 0 ||
            length > server.bounds.max_string_length || length > rest.size() - at - least_item ||
            !is_plain_value(item + head_size + length)) {
            break;
        }
        server.reading.paths[count] = {reinterpret_cast<const char*>(item) + head_size, length};
        at += least_item + length;
    }
    if (count != 0) {
        context.in.skip_bytes(at);
        server.ports.browse.find_each(context.caller, std::span{server.reading.paths}.first(count),
                                      std::span{server.reading.nodes}.first(count));
    }
    return count;
}

// The Value of a node found by its path or number.
[[gnu::noinline]] void read_value(service_context& context, data_value_writer writer,
                                  tree_handle node) {
    if (node == tree_root) {
        writer.only_status(status::bad_node_id_unknown, context.op.wall_now);
    } else if (node.kind == tree_kind::tag) {
        read_tag(context, writer, node, {});
    } else {
        read_attribute(context, writer, {true, 0, node}, value_attribute, {});
    }
}

// The Values of as many nodes as were taken.
void read_values(service_context& context, const data_value_writer& form, std::size_t count) {
    read_block& block = context.server.reading;
    for (std::size_t at = 0; at < count; ++at) {
        const tree_handle node = block.nodes[at];
        block.tags[at] = node.kind == tree_kind::tag ? node.tag() : tag_handle{};
    }
    context.server.ports.values.read_numbers(context.caller, std::span{block.tags}.first(count),
                                             std::span{block.numbers}.first(count));
    for (std::size_t at = 0; at < count; ++at) {
        if (block.numbers[at].type != builtin_type::null) [[likely]] {
            write_number(context.out, block.numbers[at], form);
        } else {
            read_value(context, form, block.nodes[at]);
        }
    }
}

// Reads the next items of the request: a block of those that nearly all are, or any one.
// @param most more than 0. @return how many.
std::size_t read_next(service_context& context, const data_value_writer& form, std::size_t most) {
    most = std::min(most, read_block::size);
    std::size_t count = take_paths(context, most);
    if (count == 0) {
        count = take_numbers(context, most);
    }
    if (count != 0) [[likely]] {
        read_values(context, form, count);
        return count;
    }
    read_one(context, form);
    return 1;
}

// maxAge 0: the next items' tags are asked of their devices, a batch at a time, so that neither
// the asking nor the answering of one batch exceeds a turn.
[[gnu::noinline]] bool ask_devices(service_context& context) {
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
    if (!(max_age >= 0)) [[unlikely]] {
        return status::bad_max_age_invalid;
    }
    if (op.read.timestamps > timestamps_neither) [[unlikely]] {
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
        if (op.read.from_device && op.list.next == op.read.asked && ask_devices(context))
            [[unlikely]] {
            op.list.position = context.in.position();
            return step::deferred;
        }
        if (context.budget.exhausted()) [[unlikely]] {
            return context.yield();
        }
        // What was not asked for yet waits for that.
        const std::uint32_t end = op.read.from_device ? op.read.asked : op.list.count;
        const std::size_t done = read_next(
            context, form, std::min<std::size_t>(end - op.list.next, context.budget.left()));
        if (!context.in.ok()) [[unlikely]] {
            return context.fail(context.in.status());
        }
        if (!context.out.ok()) [[unlikely]] {
            return context.fail(context.out.status());
        }
        context.budget.spend(done);
        op.list.next += static_cast<std::uint32_t>(done);
    }
    context.out.u32(0);  // diagnosticInfos
    return step::finished;
}

}  // namespace tagferry::opcua
