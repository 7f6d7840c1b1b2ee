// The tree that OPC UA shows, as REST shows it: connections, groups, tags.
#pragma once

#include "web/backend/call.hpp"
#include "web/backend/value.hpp"

#include <cstdint>
#include <string_view>

namespace tagferry::web {

enum class node_kind : std::uint8_t { root, connection, group, tag };

/// Lower-case word. Static storage.
std::string_view name_of(node_kind kind) noexcept;

struct node_handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
};

/// Views stay valid until the next call into this interface or the end of the turn.
struct node_row {
    node_handle handle;
    node_kind kind = node_kind::root;
    std::string_view path;     ///< empty for the root
    std::string_view name;     ///< the last part of the path, unescaped
    std::string_view node_id;  ///< as OPC UA writes it; empty for the root
    std::string_view type;     ///< tags: as the configuration writes it
    bool has_children = false;
};

class browse {
  public:
    /// The node of this path, the root for an empty one. `done`, `not_found` or `forbidden`.
    virtual outcome node(const call& context, std::string_view path, node_row& row) = 0;

    /// The first child of `parent` at or after `position` that the actor may see; `position`
    /// (0 starts, opaque, stable while the parent lives) moves past it. `done`, `end`, `later`
    /// or `not_found` (stale parent).
    virtual outcome next_child(const call& context, node_handle parent, std::uint64_t& position,
                               node_row& row) = 0;

  protected:
    ~browse() = default;
};

}  // namespace tagferry::web
