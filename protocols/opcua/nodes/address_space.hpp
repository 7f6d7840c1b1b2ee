// One address space from two sources: the standard's tables, and the gateway's tree.
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/nodes/standard_space.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::opcua {

/// NamespaceArray, in an order that never changes; loaded NodeSets will follow.
inline constexpr std::uint16_t namespace_standard = 0;
inline constexpr std::uint16_t namespace_server = 1;  ///< the application URI
inline constexpr std::uint16_t namespace_devices = 2;
inline constexpr std::uint16_t namespace_tags = 3;
inline constexpr std::string_view standard_uri = "http://opcfoundation.org/UA/";
inline constexpr std::string_view devices_uri = "http://opcfoundation.org/UA/DI/";
inline constexpr std::string_view tags_uri = "urn:tagferry:tags";

/// NodeClass of Part 3 §8.29.
enum class node_class : std::uint8_t {
    object = 1,
    variable = 2,
    method = 4,
    object_type = 8,
    variable_type = 16,
    reference_type = 32,
    data_type = 64,
    view = 128,
};

/// Where a node is found again: cheap to keep, safe when the tree changes.
struct node_key {
    bool in_tree = false;
    std::uint32_t row = 0;  ///< of the standard tables
    tree_handle tree{};
    friend bool operator==(const node_key&, const node_key&) = default;
};

/// What a reference says about the node at its other end. Texts live until the turn ends.
struct node_head {
    node_key key{};
    node_id_view id{};
    node_class kind = node_class::object;
    std::uint16_t browse_namespace = 0;
    std::string_view browse_name{};
    std::string_view display_name{};
    node_id_view type_definition{};  ///< null for other classes than Object and Variable
};

struct found_reference {
    std::uint8_t type = 0;  ///< number of the reference type
    bool is_forward = true;
    node_head target{};
};

/// Where a walk over the references of one node goes on.
struct reference_cursor {
    std::uint8_t stage = 0;
    std::uint64_t position = 0;
    constexpr bool at_end() const noexcept { return stage == 2; }
};

class address_space {
  public:
    explicit address_space(const backend& ports);

    /// @return Good, BadNodeIdInvalid (null or malformed) or BadNodeIdUnknown. Ids that
    ///   RegisterNodes gave are not known here.
    status_code find(const call& context, const node_id_view& id, node_key& out) const;

    /// False when the node is gone.
    bool describe(const call& context, const node_key& key, node_head& out) const;

    /// Writes the next references of `key`, unfiltered, at most `into.size()`, and moves the
    /// cursor exactly past them. Fewer than asked for does not mean that it is the end:
    /// `cursor.at_end()` does.
    std::size_t references(const call& context, const node_key& key, reference_cursor& cursor,
                           std::span<found_reference> into) const;

    /// Whether children from the gateway's tree hang below this node.
    bool holds_tree(const node_key& key) const noexcept {
        return key.in_tree ? key.tree.kind != tree_kind::tag
                           : key.row == objects_row_ || key.row == device_set_row_;
    }

    /// The head of a tree node already described.
    static node_head head_of(const tree_node& node) noexcept;
    static node_head head_of_row(std::uint32_t row) noexcept;
    static node_id_view id_of_row(std::uint32_t row) noexcept;

  private:
    std::size_t tree_children(const call& context, tree_handle parent, std::uint8_t type,
                              reference_cursor& cursor, std::span<found_reference> into) const;
    std::size_t upward(const call& context, const node_key& key, reference_cursor& cursor,
                       std::span<found_reference> into) const;

    backend ports_;
    std::uint32_t objects_row_;
    std::uint32_t device_set_row_;
};

}  // namespace tagferry::opcua
