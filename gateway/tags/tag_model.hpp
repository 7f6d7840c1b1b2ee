// What tags there are: connections, groups and tags as one immutable tree, made from the
// configuration on the control thread, published to every shard as a snapshot, and retired when
// all have taken over the next one.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/model/value_type.hpp"
#include "gateway/tags/tag_handle.hpp"
#include "gateway/tags/tag_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tagferry::gateway {

enum class node_kind : std::uint8_t { root, connection, group, tag };

/// Position of a node, tag or connection in its model. Means nothing in another model.
using model_position = std::uint32_t;
inline constexpr model_position no_position = 0xFFFFFFFF;

/// Names a connection or group for good, as `tag_handle` names a tag.
struct node_id {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const node_id&, const node_id&) = default;
};

struct model_node {
    node_kind kind = node_kind::root;
    node_id id{};              ///< of a tag: its handle
    std::string path;          ///< escaped, as every surface shows it; empty for the root
    std::string name;          ///< last name, unescaped
    std::string node_id_text;  ///< as OPC UA writes it; empty for the root
    model_position parent = no_position;
    model_position item = no_position;  ///< into `tags()` or `connections()`
    /// Into `children()`: connections and groups first, then tags, each in configured order.
    std::uint32_t first_child = 0;
    std::uint32_t child_count = 0;
};

struct tag_definition {
    tag_handle handle{};
    model_position node = no_position;
    model_position connection = no_position;
    std::string type_text;  ///< as the configuration writes it, e.g. "STRING[20]"
    value_type type{};
    std::string address;
    std::string scan_class;  ///< its name
    std::uint32_t scan_interval_ms = 0;
    std::uint32_t stale_after_ms = 0;
    std::string unit;
    std::string description;
    bool writable = false;
};

struct connection_definition {
    tag_table::owner_id owner = 0;
    model_position node = no_position;
    config::connection settings;   ///< without its tags
    model_position first_tag = 0;  ///< its tags are neighbours in `tags()`
    std::uint32_t tag_count = 0;
};

/// Finds nodes by their paths. Open addressing at most half full, so that a look-up reads a place
/// or two and the node itself.
class path_index {
  public:
    /// All nodes of a model, whose paths differ.
    void build(std::span<const model_node> nodes);
    /// Position of the node of exactly this path, or `no_position`.
    model_position find(std::span<const model_node> nodes, std::string_view path) const noexcept {
        return find(nodes, path, hash_of(path));
    }
    /// The same for several, whose memory is fetched meanwhile: at most `most_at_once`.
    void find_each(std::span<const model_node> nodes, std::span<const std::string_view> paths,
                   std::span<model_position> into) const noexcept;
    static constexpr std::size_t most_at_once = 32;

  private:
    struct place {
        std::uint32_t hash = 0;
        model_position node = no_position;
    };
    static std::uint64_t hash_of(std::string_view path) noexcept;
    model_position find(std::span<const model_node> nodes, std::string_view path,
                        std::uint64_t hash) const noexcept;

    std::vector<place> places_;  // a power of two
};

class tag_model {
  public:
    /// Counts up with every model made.
    std::uint64_t revision() const noexcept { return revision_; }

    std::span<const model_node> nodes() const noexcept { return nodes_; }
    std::span<const tag_definition> tags() const noexcept { return tags_; }
    std::span<const connection_definition> connections() const noexcept { return connections_; }
    std::span<const tag_definition> tags_of(
        const connection_definition& connection) const noexcept {
        return tags().subspan(connection.first_tag, connection.tag_count);
    }

    const model_node& root() const noexcept { return nodes_.front(); }
    std::span<const model_position> children(const model_node& parent) const noexcept {
        return std::span(children_).subspan(parent.first_child, parent.child_count);
    }

    /// The node of exactly this path; the root for an empty one; null when there is none.
    const model_node* find(std::string_view path) const noexcept;
    /// The positions of several nodes by their paths, at most `path_index::most_at_once`, none of
    /// them empty; `no_position` where there is none.
    void find_each(std::span<const std::string_view> paths,
                   std::span<model_position> into) const noexcept {
        by_path_.find_each(nodes_, paths, into);
    }
    /// The connection or group of this name for good; null when it is gone.
    const model_node* find(node_id id) const noexcept;
    /// The tag of this handle; null when the handle is stale or newer than this model.
    const tag_definition* find(tag_handle handle) const noexcept;
    /// The first tag whose table index is at least `index`; null when there is none. Tags keep
    /// their index while they live, so a walk by index survives a change of models.
    const tag_definition* at_or_after(std::uint32_t index) const noexcept;

    /// Nobody can have a tag of this connection that the model does not know.
    const connection_definition* find_connection(std::string_view name) const noexcept;

  private:
    friend class model_builder;

    std::uint64_t revision_ = 0;
    std::vector<model_node> nodes_;
    std::vector<model_position> children_;
    std::vector<tag_definition> tags_;
    std::vector<connection_definition> connections_;
    path_index by_path_;                    // nodes by their paths
    std::vector<model_position> by_id_;     // node by node_id::index
    std::vector<model_position> by_index_;  // tag by table index
};

/// What a model cannot have: one line for each, empty when all is well.
struct model_error {
    std::string path;
    std::string text;
};

/// Reads the type of a protocol's tag. False: not a type.
using type_reader = bool (*)(std::string_view text, value_type& type);

/// Makes models, and keeps tags, connections and groups that stay the same under the same names.
/// Control thread only.
class model_builder {
  public:
    /// @param table outlives the builder.
    explicit model_builder(tag_table& table) noexcept : table_(&table) {}

    /// The model of a checked configuration. Tags that did not exist, or had another type or
    /// connection, get a handle in the table; the others keep theirs. Tags that do not fit (table
    /// full, not a type) are left out and named in `errors`.
    std::unique_ptr<const tag_model> build(const config::configuration& from, type_reader read_type,
                                           std::vector<model_error>& errors);

    /// Removes from the table what the last model built does not have, once every shard has taken
    /// it over and so nobody writes those tags any more.
    void remove_unused();

  private:
    struct known_tag {
        tag_handle handle{};
        value_type type{};
        tag_table::owner_id owner = 0;
        std::uint64_t revision = 0;
    };
    struct known_owner {
        tag_table::owner_id owner = 0;
        std::uint64_t revision = 0;
    };
    struct known_node {
        node_id id{};
        std::uint64_t revision = 0;
    };
    struct draft;

    void add_connection(draft& to, const config::connection& from, type_reader read_type,
                        std::vector<model_error>& errors);
    bool add_tag(draft& to, const config::connection& settings, const config::tag& from,
                 type_reader read_type, std::string& error);
    model_position add_group(draft& to, model_position parent, std::string_view name);
    model_position add_node(draft& to, model_position parent, node_kind kind, std::string path,
                            std::string name);
    node_id id_of(const std::string& path);
    bool tag_above(std::string_view path) const;
    bool handle_of(const std::string& path, tag_table::owner_id owner, tag_definition& tag);
    static void finish(draft& to);

    tag_table* table_;
    std::uint64_t revision_ = 0;
    std::unordered_map<std::string, known_tag> tags_;
    std::unordered_map<std::string, known_owner> owners_;
    std::unordered_map<std::string, known_node> nodes_;
    std::vector<tag_handle> replaced_;        // of tags that came back with another type
    std::vector<std::uint32_t> generations_;  // by node_id::index
    std::vector<std::uint32_t> free_node_ids_;
};

}  // namespace tagferry::gateway
