// One address space from two sources: the standard's tables, and the gateway's tree.
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/nodes/namespaces.hpp"
#include "protocols/opcua/nodes/properties.hpp"
#include "protocols/opcua/nodes/standard_space.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::opcua {

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
    std::uint8_t property = 0;  ///< of `properties_of` the tree node, counted from 1; 0: itself

    constexpr bool is_tag() const noexcept {
        return in_tree && property == 0 && tree.kind == tree_kind::tag;
    }
    friend bool operator==(const node_key&, const node_key&) = default;
};

/// What a reference says about the node at its other end. Texts live until the turn ends.
struct node_head {
    node_key key{};
    node_id_view id{};            ///< of a property: its owner's path, to which `property` belongs
    std::string_view property{};  ///< what follows the path in the id of a property; else empty
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

/// Writes the NodeId of what a head describes.
void write_node_id(encoder& out, const node_head& head) noexcept;

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
        return key.in_tree ? key.property == 0 && key.tree.kind != tree_kind::tag
                           : key.row == objects_row_ || key.row == device_set_row_;
    }

    /// The head of a tree node already described.
    static node_head head_of(const tree_node& node) noexcept;
    /// The head of a property. @param number of `properties_of`, from 1.
    static node_head head_of_property(const tree_node& owner, std::uint8_t number) noexcept;
    static node_head head_of_row(std::uint32_t row) noexcept;
    static node_id_view id_of_row(std::uint32_t row) noexcept;

  private:
    status_code find_property(const call& context, std::string_view text, node_key& out) const;
    std::size_t of_property(const tree_node& owner, const node_key& key, reference_cursor& cursor,
                            std::span<found_reference> into) const;
    std::size_t tree_children(const call& context, tree_handle parent, std::uint8_t type,
                              reference_cursor& cursor, std::span<found_reference> into) const;
    std::size_t upward(const call& context, const node_key& key, reference_cursor& cursor,
                       std::span<found_reference> into) const;

    backend ports_;
    std::uint32_t objects_row_;
    std::uint32_t device_set_row_;
};

}  // namespace tagferry::opcua
