#include "gateway/model/tag_path.hpp"
#include "gateway/tags/tag_model.hpp"

#include <algorithm>
#include <utility>

namespace tagferry::gateway {

/// A model in the making: children are kept by parent until all are known.
struct model_builder::draft {
    std::unique_ptr<tag_model> model = std::make_unique<tag_model>();
    std::vector<std::vector<model_position>> folders;  // by position of the parent
    std::vector<std::vector<model_position>> tags;
    std::unordered_map<std::string, model_position> groups;  // by path
};

std::unique_ptr<const tag_model> model_builder::build(const config::configuration& from,
                                                      type_reader read_type,
                                                      std::vector<model_error>& errors) {
    draft made;
    made.model->revision_ = ++revision_;
    add_node(made, no_position, node_kind::root, "", "");
    for (const config::connection& connection : from.connections) {
        add_connection(made, connection, read_type, errors);
    }
    finish(made);
    return std::move(made.model);
}

model_position model_builder::add_node(draft& to, model_position parent, node_kind kind,
                                       std::string path, std::string name) {
    const auto at = static_cast<model_position>(to.model->nodes_.size());
    model_node node;
    node.kind = kind;
    node.parent = parent;
    if (kind == node_kind::connection || kind == node_kind::group) {
        node.id = id_of(path);
    }
    if (kind != node_kind::root) {
        node.node_id_text = tagferry::gateway::node_id_text(path);
    }
    node.path = std::move(path);
    node.name = std::move(name);
    to.model->nodes_.push_back(std::move(node));
    to.folders.emplace_back();
    to.tags.emplace_back();
    if (parent != no_position) {
        (kind == node_kind::tag ? to.tags : to.folders)[parent].push_back(at);
    }
    return at;
}

node_id model_builder::id_of(const std::string& path) {
    known_node& known = nodes_[path];
    if (known.revision == 0) {
        if (free_node_ids_.empty()) {
            free_node_ids_.push_back(static_cast<std::uint32_t>(generations_.size()));
            generations_.push_back(0);
        }
        known.id.index = free_node_ids_.back();
        free_node_ids_.pop_back();
        known.id.generation = ++generations_[known.id.index];
    }
    known.revision = revision_;
    return known.id;
}

void model_builder::add_connection(draft& to, const config::connection& from, type_reader read_type,
                                   std::vector<model_error>& errors) {
    const std::string_view name = from.name;
    const auto path = make_path({&name, 1});
    known_owner* known = nullptr;
    if (path) {
        known = &owners_[*path];
        if (known->revision == 0) {
            const auto owner = table_->add_owner();
            if (!owner) {
                owners_.erase(*path);
                errors.push_back({*path, "the limit of connections is reached"});
                return;
            }
            known->owner = *owner;
        }
        known->revision = revision_;
    } else {
        errors.push_back({from.name, "not a name for a connection"});
        return;
    }
    connection_definition connection;
    connection.owner = known->owner;
    connection.node = add_node(to, 0, node_kind::connection, *path, from.name);
    connection.settings = from;
    std::vector<config::tag>().swap(connection.settings.tags);
    connection.first_tag = static_cast<model_position>(to.model->tags_.size());
    to.model->nodes_[connection.node].item =
        static_cast<model_position>(to.model->connections_.size());
    to.groups[*path] = connection.node;
    to.model->connections_.push_back(std::move(connection));
    for (const config::tag& tag : from.tags) {
        std::string error;
        if (!add_tag(to, from, tag, read_type, error)) {
            errors.push_back({*path + "/" + tag.path, std::move(error)});
        }
    }
    connection_definition& added = to.model->connections_.back();
    added.tag_count = static_cast<std::uint32_t>(to.model->tags_.size()) - added.first_tag;
}

model_position model_builder::add_group(draft& to, model_position parent, std::string_view name) {
    const std::string& above = to.model->nodes_[parent].path;
    std::string path = above + "/" + make_path({&name, 1}).value_or("");
    if (const auto found = to.groups.find(path); found != to.groups.end()) {
        return found->second;
    }
    const model_position made = add_node(to, parent, node_kind::group, path, std::string(name));
    to.groups[std::move(path)] = made;
    return made;
}

bool model_builder::add_tag(draft& to, const config::connection& settings, const config::tag& from,
                            type_reader read_type, std::string& error) {
    const auto relative = canonical_path(from.path);
    const auto connection_at = static_cast<model_position>(to.model->connections_.size() - 1);
    const auto names = relative ? parse_path(*relative) : std::nullopt;
    if (!names || names->size() + 1 > max_path_names) {
        error = "not a path";
        return false;
    }
    const model_position connection_node = to.model->connections_[connection_at].node;
    std::string path = to.model->nodes_[connection_node].path + "/" + *relative;
    tag_definition tag;
    if (!read_type(from.type, tag.type)) {
        error = "not a type: " + from.type;
        return false;
    }
    if (path.size() > max_path_size || from.scan_class >= settings.scan_classes.size()) {
        error = path.size() > max_path_size ? "the path is too long" : "no such scan class";
        return false;
    }
    if (to.groups.contains(path) || tag_above(path)) {
        error = "a tag and a group cannot have one path";
        return false;
    }
    if (!handle_of(path, to.model->connections_[connection_at].owner, tag)) {
        error = "two tags of this path, or the limit of tags or of their memory is reached";
        return false;
    }
    model_position parent = connection_node;
    for (std::size_t i = 0; i + 1 < names->size(); ++i) {
        parent = add_group(to, parent, (*names)[i]);
    }
    const config::scan_class& scan = settings.scan_classes[from.scan_class];
    tag.connection = connection_at;
    tag.type_text = from.type;
    tag.address = from.address;
    tag.scan_class = scan.name;
    tag.scan_interval_ms = scan.interval_ms;
    tag.stale_after_ms = from.stale_after_ms != 0 ? from.stale_after_ms : 3 * scan.interval_ms;
    tag.unit = from.unit;
    tag.description = from.description;
    tag.writable = from.writable;
    tag.node = add_node(to, parent, node_kind::tag, std::move(path), names->back());
    to.model->nodes_[tag.node].id = {tag.handle.index, tag.handle.generation};
    to.model->nodes_[tag.node].item = static_cast<model_position>(to.model->tags_.size());
    to.model->tags_.push_back(std::move(tag));
    return true;
}

bool model_builder::tag_above(std::string_view path) const {
    for (std::size_t end = path.rfind('/'); end != std::string_view::npos;
         end = end == 0 ? std::string_view::npos : path.rfind('/', end - 1)) {
        const auto found = tags_.find(std::string(path.substr(0, end)));
        if (found != tags_.end() && found->second.revision == revision_) {
            return true;
        }
    }
    return false;
}

bool model_builder::handle_of(const std::string& path, tag_table::owner_id owner,
                              tag_definition& tag) {
    known_tag& known = tags_[path];
    if (known.revision == revision_) {
        return false;
    }
    if (known.revision == 0 || known.owner != owner || !(known.type == tag.type)) {
        const auto made = table_->add(owner, tag.type);
        if (!made) {
            if (known.revision == 0) {
                tags_.erase(path);
            }
            return false;
        }
        if (known.revision != 0) {
            replaced_.push_back(known.handle);
        }
        known.handle = *made;
        known.type = tag.type;
        known.owner = owner;
    }
    known.revision = revision_;
    tag.handle = known.handle;
    return true;
}

void model_builder::finish(draft& to) {
    tag_model& model = *to.model;
    for (model_position at = 0; at < model.nodes_.size(); ++at) {
        model_node& node = model.nodes_[at];
        node.first_child = static_cast<std::uint32_t>(model.children_.size());
        for (const auto* const part : {&to.folders[at], &to.tags[at]}) {
            model.children_.insert(model.children_.end(), part->begin(), part->end());
        }
        node.child_count = static_cast<std::uint32_t>(model.children_.size()) - node.first_child;
        if (node.kind == node_kind::connection || node.kind == node_kind::group) {
            if (node.id.index >= model.by_id_.size()) {
                model.by_id_.resize(node.id.index + 1, no_position);
            }
            model.by_id_[node.id.index] = at;
        }
    }
    model.by_path_.build(model.nodes_);
    for (model_position at = 0; at < model.tags_.size(); ++at) {
        const std::uint32_t index = model.tags_[at].handle.index;
        if (index >= model.by_index_.size()) {
            model.by_index_.resize(index + 1, no_position);
        }
        model.by_index_[index] = at;
    }
}

void model_builder::remove_unused() {
    for (const tag_handle handle : replaced_) {
        table_->remove(handle);
    }
    replaced_.clear();
    std::erase_if(tags_, [this](const auto& entry) {
        const bool unused = entry.second.revision != revision_;
        if (unused) {
            table_->remove(entry.second.handle);
        }
        return unused;
    });
    std::erase_if(owners_, [this](const auto& entry) {
        const bool unused = entry.second.revision != revision_;
        if (unused) {
            table_->remove_owner(entry.second.owner);
        }
        return unused;
    });
    std::erase_if(nodes_, [this](const auto& entry) {
        const bool unused = entry.second.revision != revision_;
        if (unused) {
            free_node_ids_.push_back(entry.second.id.index);
        }
        return unused;
    });
}

}  // namespace tagferry::gateway
