#include "protocols/opcua/nodes/address_space.hpp"

#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"

#include <algorithm>
#include <array>

namespace tagferry::opcua {
namespace {

// Of Device Integration: DeviceSet of §5.9, DeviceType of §4.7.
constexpr std::uint32_t device_set_number = 5'001;
constexpr std::uint32_t device_type_number = 1'002;
constexpr std::uint8_t end_stage = 2;

node_id_view numeric(std::uint16_t namespace_index, std::uint32_t number) noexcept {
    return {namespace_index, node_id_kind::numeric, number, {}};
}

bool is_malformed(const node_id_view& id) noexcept {
    return id.is_null() || (id.kind != node_id_kind::numeric && id.bytes.empty());
}

bool is_number(builtin_type type) noexcept {
    return type >= builtin_type::sbyte && type <= builtin_type::float64;
}

// Part 8: a number with a unit is an AnalogUnitType, whose EngineeringUnits is mandatory.
std::uint32_t variable_type_of(const tree_node& tag) noexcept {
    return is_number(tag.type) && !tag.unit.empty() ? id::analog_unit_type : id::data_item_type;
}

// Tags under a connection object are its components; folders organise what is in them.
std::uint8_t child_reference(tree_kind parent) noexcept {
    return parent == tree_kind::group ? standard::well_known().organizes
                                      : standard::well_known().has_component;
}

}  // namespace

address_space::address_space(const backend& ports)
    : ports_(ports),
      objects_row_(standard::find(namespace_standard, id::objects_folder)),
      device_set_row_(standard::find(namespace_devices, device_set_number)) {}

status_code address_space::find(const call& context, const node_id_view& id, node_key& out) const {
    if (is_malformed(id)) {
        return status::bad_node_id_invalid;
    }
    if (id.namespace_index == namespace_tags && id.kind == node_id_kind::string) {
        tree_handle found;
        if (!ports_.browse.find(context, id.bytes, found)) {
            return status::bad_node_id_unknown;
        }
        out = {true, 0, found};
        return status::good;
    }
    if (id.namespace_index == namespace_server && id.kind == node_id_kind::string) {
        return find_property(context, id.bytes, out);
    }
    if (id.kind != node_id_kind::numeric) {
        return status::bad_node_id_unknown;
    }
    const std::uint32_t row = standard::find(id.namespace_index, id.number);
    if (row == standard::no_row) {
        return status::bad_node_id_unknown;
    }
    out = {false, row, {}};
    return status::good;
}

status_code address_space::find_property(const call& context, std::string_view text,
                                         node_key& out) const {
    const std::size_t slash = text.rfind('/');
    tree_handle owner;
    tree_node node;
    if (slash == std::string_view::npos ||
        !ports_.browse.find(context, text.substr(0, slash), owner) ||
        !ports_.browse.describe(context, owner, node)) {
        return status::bad_node_id_unknown;
    }
    const std::span<const property> all = properties_of(node);
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (all[at].name == text.substr(slash + 1)) {
            out = {true, 0, owner, static_cast<std::uint8_t>(at + 1)};
            return status::good;
        }
    }
    return status::bad_node_id_unknown;
}

node_id_view address_space::id_of_row(std::uint32_t row) noexcept {
    return numeric(standard_nodes[row].namespace_index, standard_nodes[row].number);
}

node_head address_space::head_of_row(std::uint32_t row) noexcept {
    const standard_node& node = standard_nodes[row];
    node_head head;
    head.key = {false, row, {}};
    head.id = id_of_row(row);
    head.kind = static_cast<node_class>(node.node_class);
    head.browse_namespace = node.browse_namespace;
    head.browse_name = standard::text(node.browse_name);
    head.display_name = standard::text(node.display_name);
    if (head.kind == node_class::object || head.kind == node_class::variable) {
        const std::uint32_t type = standard::type_definition(row);
        if (type != standard::no_row) {
            head.type_definition = id_of_row(type);
        }
    }
    return head;
}

node_head address_space::head_of(const tree_node& node) noexcept {
    node_head head;
    head.key = {true, 0, node.handle};
    head.id = {namespace_tags, node_id_kind::string, 0, node.path};
    head.browse_namespace = namespace_tags;
    head.browse_name = node.name;
    head.display_name = node.name;
    switch (node.handle.kind) {
        case tree_kind::tag:
            head.kind = node_class::variable;
            head.type_definition = numeric(namespace_standard, variable_type_of(node));
            break;
        case tree_kind::group:
            head.type_definition = numeric(0, id::folder_type);
            break;
        default:
            head.type_definition = numeric(namespace_devices, device_type_number);
            break;
    }
    return head;
}

node_head address_space::head_of_property(const tree_node& owner, std::uint8_t number) noexcept {
    const property& what = properties_of(owner)[number - 1U];
    node_head head;
    head.key = {true, 0, owner.handle, number};
    head.id = {namespace_server, node_id_kind::string, 0, owner.path};
    head.property = what.name;
    head.kind = node_class::variable;
    head.browse_namespace = what.browse_namespace;
    head.browse_name = head.display_name = what.name;
    head.type_definition = numeric(namespace_standard, id::property_type);
    return head;
}

void write_node_id(encoder& out, const node_head& head) noexcept {
    if (head.property.empty()) {
        out.node_id(head.id);
        return;
    }
    constexpr std::uint8_t string_form = 3;
    out.u8(string_form);
    out.u16(head.id.namespace_index);
    out.i32(static_cast<std::int32_t>(head.id.bytes.size() + 1 + head.property.size()));
    out.raw(std::as_bytes(std::span{head.id.bytes}));
    out.u8('/');
    out.raw(std::as_bytes(std::span{head.property}));
}

bool address_space::describe(const call& context, const node_key& key, node_head& out) const {
    if (!key.in_tree) {
        out = head_of_row(key.row);
        return true;
    }
    tree_node node;
    if (!ports_.browse.describe(context, key.tree, node)) {
        return false;
    }
    if (key.property > properties_of(node).size()) {
        return false;
    }
    out = key.property == 0 ? head_of(node) : head_of_property(node, key.property);
    return true;
}

std::size_t address_space::tree_children(const call& context, tree_handle parent, std::uint8_t type,
                                         reference_cursor& cursor,
                                         std::span<found_reference> into) const {
    std::array<tree_node, 16> nodes;
    const std::size_t room = std::min(into.size(), nodes.size());
    const tree_page page =
        ports_.browse.children(context, parent, cursor.position, std::span{nodes.data(), room});
    for (std::size_t at = 0; at < page.count; ++at) {
        into[at] = {type, true, head_of(nodes[at])};
    }
    cursor.position = page.next;
    if (page.next == 0) {
        cursor = {end_stage, 0};
    }
    return page.count;
}

// The type definition and the owner of a property.
std::size_t address_space::of_property(const tree_node& owner, const node_key& key,
                                       reference_cursor& cursor,
                                       std::span<found_reference> into) const {
    const standard::reference_numbers& types = standard::well_known();
    const std::uint64_t count = key.property > properties_of(owner).size() ? 0 : 2;
    std::size_t written = 0;
    for (; written < into.size() && cursor.position < count; ++cursor.position) {
        into[written++] = cursor.position == 0
                              ? found_reference{types.has_type_definition, true,
                                                head_of_row(standard::find(namespace_standard,
                                                                           id::property_type))}
                              : found_reference{types.has_property, false, head_of(owner)};
    }
    if (cursor.position >= count) {
        cursor = {end_stage, 0};
    }
    return written;
}

// The type definition, the parents and the properties of a tree node, one for each position.
std::size_t address_space::upward(const call& context, const node_key& key,
                                  reference_cursor& cursor, std::span<found_reference> into) const {
    const bool has_children = key.tree.kind != tree_kind::tag;
    tree_node self;
    if (!ports_.browse.describe(context, key.tree, self)) {
        cursor = {end_stage, 0};
        return 0;
    }
    if (key.property != 0) {
        return of_property(self, key, cursor, into);
    }
    const std::uint64_t first_property = key.tree.kind == tree_kind::connection ? 3 : 2;
    const std::uint64_t count = first_property + properties_of(self).size();
    const standard::reference_numbers& types = standard::well_known();
    std::size_t written = 0;
    for (; written < into.size() && cursor.position < count; ++cursor.position) {
        found_reference& reference = into[written];
        if (cursor.position == 0) {
            const node_id_view type = head_of(self).type_definition;
            const std::uint32_t row = standard::find(type.namespace_index, type.number);
            reference = {types.has_type_definition, true, head_of_row(row)};
        } else if (cursor.position >= first_property) {
            const auto number = static_cast<std::uint8_t>(cursor.position - first_property + 1);
            reference = {types.has_property, true, head_of_property(self, number)};
        } else if (key.tree.kind == tree_kind::connection) {
            reference =
                cursor.position == 1
                    ? found_reference{types.organizes, false, head_of_row(objects_row_)}
                    : found_reference{types.has_component, false, head_of_row(device_set_row_)};
        } else {
            tree_node parent;
            if (!ports_.browse.describe(context, self.parent, parent)) {
                continue;
            }
            reference = {child_reference(self.parent.kind), false, head_of(parent)};
        }
        ++written;
    }
    if (cursor.position >= count) {
        cursor = {static_cast<std::uint8_t>(has_children ? 1 : end_stage), 0};
    }
    return written;
}

std::size_t address_space::references(const call& context, const node_key& key,
                                      reference_cursor& cursor,
                                      std::span<found_reference> into) const {
    if (cursor.at_end() || into.empty()) {
        return 0;
    }
    if (key.in_tree) {
        return cursor.stage == 0
                   ? upward(context, key, cursor, into)
                   : tree_children(context, key.tree, child_reference(key.tree.kind), cursor, into);
    }
    if (cursor.stage == 1) {
        const std::uint8_t type = key.row == objects_row_ ? standard::well_known().organizes
                                                          : standard::well_known().has_component;
        return tree_children(context, tree_root, type, cursor, into);
    }
    const auto rows = standard::references(key.row);
    std::size_t written = 0;
    for (; written < into.size() && cursor.position < rows.size(); ++cursor.position) {
        const std::uint32_t reference = rows[cursor.position];
        into[written++] = {standard::type(reference), standard::is_forward(reference),
                           head_of_row(standard::target(reference))};
    }
    if (cursor.position >= rows.size()) {
        cursor = {static_cast<std::uint8_t>(holds_tree(key) ? 1 : end_stage), 0};
    }
    return written;
}

}  // namespace tagferry::opcua
