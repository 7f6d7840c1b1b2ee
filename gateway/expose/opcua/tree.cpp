#include "gateway/expose/opcua/tree.hpp"

#include "gateway/expose/slot_values.hpp"
#include "gateway/model/tag_path.hpp"

#include <algorithm>
#include <array>

namespace tagferry::gateway {
namespace {

template <node_kind Here, opcua::tree_kind There>
constexpr bool same_number = static_cast<unsigned>(Here) == static_cast<unsigned>(There);
static_assert(same_number<node_kind::connection, opcua::tree_kind::connection> &&
              same_number<node_kind::group, opcua::tree_kind::group> &&
              same_number<node_kind::tag, opcua::tree_kind::tag>);

opcua::tree_handle handle_of(const model_node& node) noexcept {
    if (node.kind == node_kind::root) {
        return opcua::tree_root;
    }
    return {static_cast<opcua::tree_kind>(node.kind), node.id.index, node.id.generation};
}

/// By `config::plc_family`: as their maker calls them.
constexpr std::array<std::string_view, 5> device_names = {
    "SIMATIC S7-300", "SIMATIC S7-400", "SIMATIC S7-1200", "SIMATIC S7-1500", "LOGO!"};

opcua::tree_node view_of(const tag_model& model, const model_node& node) noexcept {
    opcua::tree_node view;
    view.handle = handle_of(node);
    view.parent =
        node.parent == no_position ? opcua::tree_root : handle_of(model.nodes()[node.parent]);
    view.path = node.path;
    view.name = node.name;
    if (node.kind == node_kind::tag) {
        const tag_definition& tag = model.tags()[node.item];
        view.description = tag.description;
        view.type = to_opcua(tag.type.element);
        view.array_length = tag.type.array_length;
        view.writable = tag.writable;
        view.unit = tag.unit;
        view.minimum_sampling_interval_ms = tag.scan_interval_ms;
    }
    if (node.kind == node_kind::connection) {
        const config::connection& settings = model.connections()[node.item].settings;
        view.manufacturer = "Siemens AG";
        view.model = device_names[static_cast<std::size_t>(settings.family)];
    }
    return view;
}

}  // namespace

const model_node* opcua_tree::node_of(opcua::tree_handle handle) const noexcept {
    const tag_model& model = models_.model();
    switch (handle.kind) {
        case opcua::tree_kind::root:
            return &model.root();
        case opcua::tree_kind::connection:
        case opcua::tree_kind::group:
            return model.find(node_id{handle.index, handle.generation});
        case opcua::tree_kind::tag: {
            const auto* const tag = model.find(tag_handle{handle.index, handle.generation});
            return tag == nullptr ? nullptr : &model.nodes()[tag->node];
        }
    }
    return nullptr;
}

bool opcua_tree::find(const opcua::call& /*context*/, std::string_view path,
                      opcua::tree_handle& out) {
    const model_node* const node = path.empty() ? nullptr : models_.model().find(path);
    if (node == nullptr) {
        return false;
    }
    out = handle_of(*node);
    return true;
}

void opcua_tree::find_each(const opcua::call& /*context*/, std::span<const std::string_view> paths,
                           std::span<opcua::tree_handle> into) {
    const tag_model& model = models_.model();
    std::array<model_position, path_index::most_at_once> found;
    while (!paths.empty()) {
        const std::size_t count = std::min(paths.size(), found.size());
        model.find_each(paths.first(count), std::span(found).first(count));
        for (std::size_t at = 0; at < count; ++at) {
            into[at] =
                found[at] == no_position ? opcua::tree_root : handle_of(model.nodes()[found[at]]);
        }
        paths = paths.subspan(count);
        into = into.subspan(count);
    }
}

bool opcua_tree::find_child(const opcua::call& context, opcua::tree_handle parent,
                            std::string_view name, opcua::tree_handle& out) {
    const model_node* const node = node_of(parent);
    std::array<char, max_path_size> path;
    const std::size_t size = node == nullptr ? 0 : child_path(node->path, name, path);
    return size != 0 && find(context, {path.data(), size}, out);
}

bool opcua_tree::describe(const opcua::call& /*context*/, opcua::tree_handle node,
                          opcua::tree_node& out) {
    const model_node* const found = node_of(node);
    if (found == nullptr) {
        return false;
    }
    out = view_of(models_.model(), *found);
    return true;
}

opcua::tree_page opcua_tree::children(const opcua::call& /*context*/, opcua::tree_handle parent,
                                      std::uint64_t cursor, std::span<opcua::tree_node> into) {
    opcua::tree_page page;
    const model_node* const node = node_of(parent);
    if (node == nullptr) {
        page.parent_unknown = true;
        return page;
    }
    const tag_model& model = models_.model();
    const auto all = model.children(*node);
    for (std::uint64_t at = cursor; at < all.size(); ++at) {
        if (page.count == into.size()) {
            page.next = at;
            break;
        }
        into[page.count++] = view_of(model, model.nodes()[all[at]]);
    }
    return page;
}

}  // namespace tagferry::gateway
