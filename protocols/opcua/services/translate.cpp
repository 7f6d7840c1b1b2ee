// TranslateBrowsePathsToNodeIds of the View service set (Part 4 §5.8.4).
#include "protocols/opcua/services/service.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tagferry::opcua {
namespace {

// Nodes that one element of a path may match at once; more is an answer cut off.
constexpr std::size_t most_matches = 64;
constexpr std::uint32_t whole_path = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t smallest_browse_path = 2 + 4;
constexpr std::size_t smallest_element = 2 + 1 + 1 + 6;

struct node_set {
    std::array<node_key, most_matches> nodes{};
    std::size_t count = 0;
    bool overflowed = false;

    void add(const node_key& node) noexcept {
        const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(count);
        if (std::find(nodes.begin(), end, node) != end) {
            return;
        }
        if (count == nodes.size()) {
            overflowed = true;
            return;
        }
        nodes[count++] = node;
    }
};

struct path_element {
    bool is_inverse = false;
    bool include_subtypes = false;
    bool type_is_wrong = false;  ///< names no reference type: nothing can match
    std::uint8_t reference_type = standard::no_type;
    qualified_name_view name{};
};

path_element next_element(service_context& context) {
    decoder& in = context.in;
    path_element element;
    const node_id_view type = in.node_id();
    element.is_inverse = in.boolean();
    element.include_subtypes = in.boolean();
    element.name = in.qualified_name();
    if (in.ok() && !type.is_null()) {
        node_key found;
        if (context.server.space.find(context.caller, type, found) == status::good &&
            !found.in_tree) {
            element.reference_type = standard::reference_type_of(found.row);
        }
        element.type_is_wrong = element.reference_type == standard::no_type;
    }
    return element;
}

bool follows(const path_element& element, std::uint8_t type) noexcept {
    if (element.reference_type == standard::no_type) {
        return true;
    }
    return element.include_subtypes ? standard::is_subtype(type, element.reference_type)
                                    : type == element.reference_type;
}

// Children of a tree node are found by name; walking a group of 50,000 tags would not do.
bool match_tree_child(service_context& context, const node_key& from, const path_element& element,
                      node_set& out) {
    if (element.is_inverse || element.name.namespace_index != namespace_tags) {
        return false;
    }
    // The second stage of a walk is the children in the tree.
    reference_cursor cursor{1, 0};
    std::array<found_reference, 1> first;
    const tree_handle parent = from.in_tree ? from.tree : tree_root;
    // One child shows by which reference type children hang there.
    if (context.server.space.references(context.caller, from, cursor, first) == 0 ||
        !first[0].target.key.in_tree || !follows(element, first[0].type)) {
        return true;
    }
    tree_handle found;
    if (context.server.ports.browse.find_child(context.caller, parent, element.name.name, found)) {
        out.add({true, 0, found, 0});
    }
    return true;
}

// @param left references that may still be looked at for this path; taken from.
void match_element(service_context& context, const node_key& from, const path_element& element,
                   std::uint32_t& left, node_set& out) {
    if (context.server.space.holds_tree(from) && match_tree_child(context, from, element, out)) {
        return;
    }
    reference_cursor cursor;
    std::array<found_reference, 16> page;
    while (left != 0 && !cursor.at_end() &&
           !(context.server.space.holds_tree(from) && cursor.stage == 1)) {
        const std::size_t count =
            context.server.space.references(context.caller, from, cursor, page);
        left -= static_cast<std::uint32_t>(std::min<std::size_t>(left, count));
        for (std::size_t at = 0; at < count; ++at) {
            const node_head& target = page[at].target;
            if (page[at].is_forward != element.is_inverse && follows(element, page[at].type) &&
                target.browse_namespace == element.name.namespace_index &&
                target.browse_name == element.name.name) {
                out.add(target.key);
            }
        }
    }
}

// Reads every element of the path, whatever happens, so that the next path is found.
status_code follow_path(service_context& context, const node_key& start, status_code outcome,
                        node_set& found) {
    found.count = 0;
    found.add(start);
    const std::uint32_t count = context.in.array_length(smallest_element);
    if (outcome == status::good && count == 0) {
        outcome = status::bad_nothing_to_do;
    }
    if (outcome == status::good && count > context.server.bounds.max_browse_path_elements) {
        outcome = status::bad_query_too_complex;
    }
    // Some types have thousands of references: a path through them is bounded like anything else.
    std::uint32_t left = context.server.bounds.max_references_per_path;
    for (std::uint32_t at = 0; at < count && context.in.ok(); ++at) {
        const path_element element = next_element(context);
        if (element.name.name.empty()) {
            outcome = outcome == status::good || outcome == status::bad_no_match
                          ? status_code{status::bad_browse_name_invalid}
                          : outcome;
        }
        if (outcome != status::good) {
            continue;
        }
        node_set next;
        for (std::size_t from = 0; from < found.count && !element.type_is_wrong; ++from) {
            match_element(context, found.nodes[from], element, left, next);
        }
        found = next;
        outcome = left == 0          ? status::bad_query_too_complex
                  : found.overflowed ? status::bad_too_many_matches
                  : found.count == 0 ? status::bad_no_match
                                     : status::good;
    }
    return outcome;
}

void translate_one(service_context& context) {
    encoder& out = context.out;
    node_key start;
    const node_id_view id = context.in.node_id();
    const status_code resolved =
        context.in.ok() ? resolve(context, id, start) : context.in.status();
    node_set found;
    const status_code outcome = follow_path(context, start, resolved, found);
    out.u32(outcome);
    if (outcome != status::good) {
        out.u32(0);
        return;
    }
    out.u32(static_cast<std::uint32_t>(found.count));
    for (std::size_t at = 0; at < found.count; ++at) {
        node_head head;
        context.server.space.describe(context.caller, found.nodes[at], head);
        write_node_id(out, head);
        out.u32(whole_path);
    }
}

}  // namespace

step translate_browse_paths(service_context& context) {
    operation& op = context.op;
    if (!op.begun) {
        const status_code outcome = context.begin_list(smallest_browse_path);
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
        translate_one(context);
        if (!context.in.ok()) {
            return context.fail(context.in.status());
        }
        if (!context.out.ok()) {
            return context.fail(context.out.status());
        }
    }
    context.out.u32(0);  // diagnosticInfos
    return step::finished;
}

}  // namespace tagferry::opcua
