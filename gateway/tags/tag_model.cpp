#include "gateway/tags/tag_model.hpp"

namespace tagferry::gateway {

const model_node* tag_model::find(std::string_view path) const noexcept {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : &nodes_[found->second];
}

const model_node* tag_model::find(node_id id) const noexcept {
    if (id.index >= by_id_.size() || by_id_[id.index] == no_position) {
        return nullptr;
    }
    const model_node& node = nodes_[by_id_[id.index]];
    return node.id == id ? &node : nullptr;
}

const tag_definition* tag_model::find(tag_handle handle) const noexcept {
    if (handle.index >= by_index_.size() || by_index_[handle.index] == no_position) {
        return nullptr;
    }
    const tag_definition& tag = tags_[by_index_[handle.index]];
    return tag.handle == handle ? &tag : nullptr;
}

const tag_definition* tag_model::at_or_after(std::uint32_t index) const noexcept {
    for (std::size_t at = index; at < by_index_.size(); ++at) {
        if (by_index_[at] != no_position) {
            return &tags_[by_index_[at]];
        }
    }
    return nullptr;
}

const connection_definition* tag_model::find_connection(std::string_view name) const noexcept {
    for (const connection_definition& connection : connections_) {
        if (connection.settings.name == name) {
            return &connection;
        }
    }
    return nullptr;
}

}  // namespace tagferry::gateway
