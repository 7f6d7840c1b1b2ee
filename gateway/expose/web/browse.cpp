#include "gateway/expose/web/browse.hpp"

namespace tagferry::gateway {
namespace {

web::node_kind kind_of(node_kind kind) noexcept {
    switch (kind) {
        case node_kind::root:
            return web::node_kind::root;
        case node_kind::connection:
            return web::node_kind::connection;
        case node_kind::group:
            return web::node_kind::group;
        case node_kind::tag:
            return web::node_kind::tag;
    }
    return web::node_kind::root;
}

/// Names a node of this model; of another model's it is stale.
web::node_handle handle_of(const tag_model& model, model_position at) noexcept {
    return {at, static_cast<std::uint32_t>(model.revision())};
}

void fill(const tag_model& model, model_position at, web::node_row& row) noexcept {
    const model_node& node = model.nodes()[at];
    row.handle = handle_of(model, at);
    row.kind = kind_of(node.kind);
    row.path = node.path;
    row.name = node.name;
    row.node_id = node.node_id_text;
    row.type = node.kind == node_kind::tag ? std::string_view(model.tags()[node.item].type_text)
                                           : std::string_view{};
    row.has_children = node.child_count != 0;
}

}  // namespace

web::outcome web_browse::node(const web::call& context, std::string_view path, web::node_row& row) {
    const tag_model& model = models_.model();
    const model_node* const found = model.find(path);
    if (found == nullptr) {
        return web::outcome::not_found;
    }
    if (context.who.role < web::role::viewer) {
        return web::outcome::forbidden;
    }
    fill(model, static_cast<model_position>(found - model.nodes().data()), row);
    return web::outcome::done;
}

web::outcome web_browse::next_child(const web::call& context, web::node_handle parent,
                                    std::uint64_t& position, web::node_row& row) {
    const tag_model& model = models_.model();
    if (parent.index >= model.nodes().size() ||
        parent.generation != static_cast<std::uint32_t>(model.revision())) {
        return web::outcome::not_found;
    }
    const auto children = model.children(model.nodes()[parent.index]);
    if (position >= children.size() || context.who.role < web::role::viewer) {
        return web::outcome::end;
    }
    fill(model, children[position++], row);
    return web::outcome::done;
}

}  // namespace tagferry::gateway
