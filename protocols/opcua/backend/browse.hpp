// The tree of connections, groups and tags as the address space shows it.
#pragma once

#include "protocols/opcua/backend/call.hpp"
#include "protocols/opcua/backend/value_view.hpp"
#include "protocols/opcua/backend/values.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::opcua {

enum class tree_kind : std::uint8_t { root = 0, connection = 1, group = 2, tag = 3 };

/// Names one node of the tree for good. Of kind `tag`, {index, generation} is its `tag_handle`;
/// connections and groups have numberings of their own.
struct tree_handle {
    tree_kind kind = tree_kind::root;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const tree_handle&, const tree_handle&) = default;

    constexpr tag_handle tag() const noexcept { return {index, generation}; }
};

/// The parent of all connections; exists always.
inline constexpr tree_handle tree_root{};

/// One node. Strings are UTF-8 of the implementation, unchanged until the current turn ends
/// (snapshots are swapped at turn boundaries only).
struct tree_node {
    tree_handle handle{};
    tree_handle parent{};
    std::string_view path{};         ///< `connection/group/name`, escaped; the NodeId's string
    std::string_view name{};         ///< last element, unescaped: BrowseName and DisplayName
    std::string_view description{};  ///< may be empty
    // For connections only; empty when the gateway does not know.
    std::string_view manufacturer{};  ///< of the device
    std::string_view model{};
    // The rest is for tags only.
    builtin_type type = builtin_type::null;
    std::int32_t array_length = -1;  ///< elements of the declared array; -1: scalar
    bool readable = true;
    bool writable = false;
    std::string_view unit{};                  ///< engineering unit as configured; may be empty
    double minimum_sampling_interval_ms = 0;  ///< the tag's scan interval
};

/// One page of children.
struct tree_page {
    std::size_t count = 0;        ///< nodes written to the caller's memory
    std::uint64_t next = 0;       ///< cursor of the next page; 0: this was the last
    bool parent_unknown = false;  ///< the parent's handle is stale
};

/// None of these defers or blocks.
class browse_backend {
  public:
    /// Finds the node with exactly this path (UTF-8, byte-wise). Constant time.
    /// @return false: no such node; `out` untouched.
    virtual bool find(const call& context, std::string_view path, tree_handle& out) = 0;

    /// Finds several nodes at once, each as `find` does.
    /// @param paths none of them empty. @param into as many as `paths`; `tree_root`, which has no
    ///   path, where there is no such node.
    virtual void find_each(const call& context, std::span<const std::string_view> paths,
                           std::span<tree_handle> into) = 0;

    /// Finds the child of `parent` whose unescaped name is exactly this. Constant time.
    /// @return false: no such child, or a stale parent; `out` untouched.
    virtual bool find_child(const call& context, tree_handle parent, std::string_view name,
                            tree_handle& out) = 0;

    /// Describes a node. The root has no path and no name.
    /// @return false: the handle is stale; `out` untouched.
    virtual bool describe(const call& context, tree_handle node, tree_node& out) = 0;

    /// Writes the children of `parent` in a stable order: connections and groups before tags of
    /// the same parent, each in configured order. Cost grows with the page, not with the tree.
    /// @param cursor 0 for the first page, else `tree_page::next` of the page before. A cursor
    ///   survives changes of the tree: it may then skip or repeat changed nodes, nothing else.
    /// @param into at most this many are written; not empty.
    virtual tree_page children(const call& context, tree_handle parent, std::uint64_t cursor,
                               std::span<tree_node> into) = 0;

  protected:
    ~browse_backend() = default;
};

}  // namespace tagferry::opcua
