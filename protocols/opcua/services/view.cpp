// Browse and BrowseNext of the View service set (Part 4 §5.8.2, §5.8.3).
#include "protocols/opcua/services/service.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tagferry::opcua {
namespace {

enum direction : std::uint32_t { forward = 0, inverse = 1, both = 2 };

// Bits of BrowseResultMask.
enum result_bit : std::uint32_t {
    with_reference_type = 1,
    with_is_forward = 2,
    with_node_class = 4,
    with_browse_name = 8,
    with_display_name = 16,
    with_type_definition = 32,
};

// NodeId, direction, reference type, subtypes, class mask, result mask.
constexpr std::size_t smallest_browse_description = 2 + 4 + 2 + 1 + 4 + 4;
constexpr int most_pages_ahead = 32;
constexpr std::size_t continuation_size = sizeof(transport::completion_token);

bool matches(const found_reference& reference, const browse_filter& filter) noexcept {
    if (filter.direction != both && reference.is_forward != (filter.direction == forward)) {
        return false;
    }
    if (filter.reference_type != standard::no_type &&
        !(filter.include_subtypes ? standard::is_subtype(reference.type, filter.reference_type)
                                  : reference.type == filter.reference_type)) {
        return false;
    }
    return filter.class_mask == 0 ||
           (filter.class_mask & static_cast<std::uint32_t>(reference.target.kind)) != 0;
}

void write_reference(encoder& out, const found_reference& reference, std::uint32_t mask) noexcept {
    const node_head& target = reference.target;
    if ((mask & with_reference_type) != 0) {
        out.node_id(address_space::id_of_row(standard_reference_types[reference.type].row));
    } else {
        out.numeric_id(0, 0);
    }
    out.boolean((mask & with_is_forward) != 0 && reference.is_forward);
    write_node_id(out, target);
    if ((mask & with_browse_name) != 0) {
        out.qualified_name(target.browse_namespace, target.browse_name);
    } else {
        out.qualified_name(0, {});
    }
    out.localized_text((mask & with_display_name) != 0 ? text_view{target.display_name}
                                                       : text_view{});
    out.u32((mask & with_node_class) != 0 ? static_cast<std::uint32_t>(target.kind) : 0);
    out.expanded_node_id((mask & with_type_definition) != 0 ? target.type_definition
                                                            : node_id_view{});
}

void write_empty_result(encoder& out, status_code why) noexcept {
    out.u32(why);
    out.byte_string({});
    out.u32(0);
}

// Walks on over matching references, at most `most` of them and as far as the budget allows, and
// gives each to `visit`. @return how many were visited; `stopped` says that the budget ended it.
template <typename Visit>
std::uint32_t walk(service_context& context, const browse_progress& progress,
                   reference_cursor& cursor, std::uint32_t most, bool& stopped, Visit&& visit) {
    std::array<found_reference, 16> page;
    std::uint32_t visited = 0;
    while (visited < most && !cursor.at_end()) {
        if (!context.budget.spend()) {
            stopped = true;
            return visited;
        }
        // No more than still fits, so that the cursor never passes a reference not visited.
        const std::size_t room = std::min<std::size_t>(page.size(), most - visited);
        const std::size_t count = context.server.space.references(
            context.caller, progress.node, cursor, std::span{page}.first(room));
        for (std::size_t at = 0; at < count; ++at) {
            if (matches(page[at], progress.filter)) {
                visit(page[at]);
                ++visited;
            }
        }
    }
    return visited;
}

// Whether a matching reference is left, so that hardly a continuation point leads to nothing. A
// filter that passes few of very many is not followed to the end: the next call then finds out.
bool more_left(service_context& context, const browse_progress& progress) {
    reference_cursor cursor = progress.cursor;
    std::array<found_reference, 8> page;
    for (int pages = 0; !cursor.at_end(); ++pages) {
        if (pages == most_pages_ahead) {
            return true;
        }
        const std::size_t count =
            context.server.space.references(context.caller, progress.node, cursor, page);
        for (std::size_t at = 0; at < count; ++at) {
            if (matches(page[at], progress.filter)) {
                return true;
            }
        }
    }
    return false;
}

// A continuation point that goes on where the counting ended. False: none is free.
bool take_continuation(service_context& context, const browse_progress& progress,
                       transport::completion_token& token) {
    session& who = *context.who;
    if (who.continuation_points >= context.server.bounds.max_continuation_points_per_session ||
        !context.server.continuations.take(token)) {
        return false;
    }
    ++who.continuation_points;
    context.server.continuation_count.add(1);
    *context.server.continuations.find(token) = {who.number, progress.node, progress.cursor,
                                                 progress.filter};
    return true;
}

// The continuation point stands in front of the references (Part 4 §7.6), so they are counted
// before they are written.
bool begin_node(service_context& context) {
    browse_progress& progress = context.op.browse;
    bool stopped = false;
    progress.counted +=
        walk(context, progress, progress.cursor, progress.filter.max_references - progress.counted,
             stopped, [](const found_reference&) {});
    if (stopped) {
        return false;
    }
    transport::completion_token token;
    const bool more = more_left(context, progress);
    if (more && !take_continuation(context, progress, token)) {
        write_empty_result(context.out, status::bad_no_continuation_points);
        progress.stage = browse_stage::done;
        return true;
    }
    context.out.u32(status::good);
    context.out.byte_string(more ? std::as_bytes(std::span{&token, 1}) : bytes_view{});
    progress.count_at = context.out.reserve<std::uint32_t>();
    progress.cursor = progress.start;
    progress.stage = browse_stage::writing;
    return true;
}

bool write_node(service_context& context) {
    browse_progress& progress = context.op.browse;
    bool stopped = false;
    progress.written +=
        walk(context, progress, progress.cursor, progress.counted - progress.written, stopped,
             [&](const found_reference& reference) {
                 write_reference(context.out, reference, progress.filter.result_mask);
             });
    if (stopped && context.out.ok()) {
        return false;
    }
    // The tree may have lost nodes since they were counted.
    encoder::patch(progress.count_at, progress.written);
    progress.stage = browse_stage::done;
    return true;
}

// @return true when the present node is answered, false when the turn is used up.
bool go_on(service_context& context) {
    browse_progress& progress = context.op.browse;
    if (progress.stage == browse_stage::counting && !begin_node(context)) {
        return false;
    }
    return progress.stage != browse_stage::writing || write_node(context);
}

void start_node(browse_progress& progress, const node_key& node, const reference_cursor& cursor) {
    progress.node = node;
    progress.start = progress.cursor = cursor;
    progress.counted = progress.written = 0;
    progress.stage = browse_stage::counting;
}

status_code read_description(service_context& context, std::uint32_t max_references,
                             browse_filter& filter, node_key& node) {
    decoder& in = context.in;
    const node_id_view id = in.node_id();
    filter.direction = in.u32();
    const node_id_view reference_type = in.node_id();
    filter.include_subtypes = in.boolean();
    filter.class_mask = in.u32();
    filter.result_mask = in.u32();
    filter.max_references = max_references;
    if (!in.ok()) {
        return in.status();
    }
    const status_code found = resolve(context, id, node);
    if (found != status::good) {
        return found;
    }
    if (filter.direction > both) {
        return status::bad_browse_direction_invalid;
    }
    filter.reference_type = standard::no_type;
    if (!reference_type.is_null()) {  // null: all references (E36)
        node_key type;
        if (context.server.space.find(context.caller, reference_type, type) != status::good ||
            type.in_tree) {
            return status::bad_reference_type_id_invalid;
        }
        filter.reference_type = standard::reference_type_of(type.row);
        if (filter.reference_type == standard::no_type) {
            return status::bad_reference_type_id_invalid;
        }
    }
    return status::good;
}

status_code begin_browse(service_context& context) {
    decoder& in = context.in;
    const node_id_view view = in.node_id();
    in.i64();  // view timestamp and version: no views exist
    in.u32();
    const std::uint32_t asked = in.u32();
    const std::uint32_t most = context.server.bounds.max_references_per_node;
    context.op.browse = {};
    context.op.browse.max_references = asked == 0 ? most : std::min(asked, most);
    const status_code list = context.begin_list(smallest_browse_description);
    if (in.ok() && !view.is_null()) {
        return status::bad_view_id_unknown;
    }
    return list;
}

status_code begin_browse_next(service_context& context) {
    context.op.browse = {};
    context.op.browse.release = context.in.boolean();
    return context.begin_list(4);
}

// Takes a continuation point of this session back; a second use finds nothing (E37).
bool take_back(service_context& context, bytes_view bytes, continuation_point& out) {
    transport::completion_token token;
    if (bytes.size() != continuation_size) {
        return false;
    }
    std::memcpy(&token, bytes.data(), continuation_size);
    const continuation_point* const found = context.server.continuations.find(token);
    if (found == nullptr || found->session_number != context.who->number) {
        return false;
    }
    out = *found;
    context.server.release_continuation(*context.who, token);
    return true;
}

void start_described_node(service_context& context) {
    browse_progress& progress = context.op.browse;
    node_key node;
    const status_code outcome =
        read_description(context, progress.max_references, progress.filter, node);
    start_node(progress, node, {});
    if (outcome != status::good) {
        write_empty_result(context.out, outcome);
        progress.stage = browse_stage::done;
    }
}

void start_continued_node(service_context& context) {
    browse_progress& progress = context.op.browse;
    continuation_point point;
    if (!take_back(context, context.in.byte_string(), point)) {
        write_empty_result(context.out, status::bad_continuation_point_invalid);
        progress.stage = browse_stage::done;
    } else if (progress.release) {
        write_empty_result(context.out, status::good);
        progress.stage = browse_stage::done;
    } else {
        progress.filter = point.filter;
        start_node(progress, point.node, point.cursor);
    }
}

template <typename StartNode>
step run_list(service_context& context, StartNode&& start_next) {
    operation& op = context.op;
    while (op.list.next < op.list.count) {
        if (op.browse.stage == browse_stage::none) {
            if (!context.budget.spend()) {
                return context.yield();
            }
            start_next(context);
            if (!context.in.ok()) {
                return context.fail(context.in.status());
            }
        }
        if (!go_on(context)) {
            return context.yield();
        }
        if (!context.out.ok()) {
            return context.fail(context.out.status());
        }
        op.browse.stage = browse_stage::none;
        ++op.list.next;
    }
    context.out.u32(0);  // diagnosticInfos
    return step::finished;
}

template <typename Begin, typename StartNode>
step run(service_context& context, Begin&& begin, StartNode&& start_next) {
    if (!context.op.begun) {
        const status_code outcome = begin(context);
        if (outcome != status::good) {
            return context.fail(outcome);
        }
        context.begin_response();
        context.out.u32(context.op.list.count);
    }
    return run_list(context, start_next);
}

}  // namespace

step browse(service_context& context) {
    return run(context, begin_browse, start_described_node);
}

step browse_next(service_context& context) {
    return run(context, begin_browse_next, start_continued_node);
}

}  // namespace tagferry::opcua
