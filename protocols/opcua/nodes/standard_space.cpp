#include "protocols/opcua/nodes/standard_space.hpp"

#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <algorithm>

namespace tagferry::opcua::standard {
namespace {

std::uint8_t number_of(std::uint32_t type_id) noexcept {
    return reference_type_of(find(0, type_id));
}

}  // namespace

std::uint32_t find(std::uint16_t namespace_index, std::uint32_t number) noexcept {
    const standard_node* const end = standard_nodes + standard_node_count;
    const standard_node* const found = std::lower_bound(
        standard_nodes, end, number, [&](const standard_node& row, std::uint32_t wanted) {
            return row.namespace_index != namespace_index ? row.namespace_index < namespace_index
                                                          : row.number < wanted;
        });
    if (found == end || found->namespace_index != namespace_index || found->number != number) {
        return no_row;
    }
    return static_cast<std::uint32_t>(found - standard_nodes);
}

std::string_view text(std::uint16_t number) noexcept {
    const std::uint32_t begin = standard_string_offsets[number];
    return {standard_string_bytes + begin, standard_string_offsets[number + 1U] - begin};
}

bytes_view value(std::uint32_t row) noexcept {
    const std::uint32_t begin = standard_nodes[row].first_value;
    return std::as_bytes(
        std::span{standard_value_bytes + begin, standard_nodes[row + 1].first_value - begin});
}

std::span<const std::uint32_t> references(std::uint32_t row) noexcept {
    const std::uint32_t begin = standard_nodes[row].first_reference;
    return {standard_references + begin, standard_nodes[row + 1].first_reference - begin};
}

const reference_numbers& well_known() noexcept {
    static const reference_numbers numbers{
        number_of(id::organizes), number_of(id::has_component), number_of(id::has_type_definition),
        number_of(id::hierarchical_references), number_of(id::has_property)};
    return numbers;
}

std::uint8_t reference_type_of(std::uint32_t row) noexcept {
    const standard_reference_type* const end =
        standard_reference_types + standard_reference_type_count;
    const standard_reference_type* const found =
        std::lower_bound(standard_reference_types, end, row,
                         [](const standard_reference_type& each, std::uint32_t wanted) {
                             return each.row < wanted;
                         });
    return found != end && found->row == row
               ? static_cast<std::uint8_t>(found - standard_reference_types)
               : no_type;
}

bool is_subtype(std::uint8_t type, std::uint8_t ancestor) noexcept {
    while (type != ancestor) {
        type = standard_reference_types[type].parent;
        if (type == no_type) {
            return false;
        }
    }
    return true;
}

std::uint32_t type_definition(std::uint32_t row) noexcept {
    const std::uint8_t wanted = well_known().has_type_definition;
    for (const std::uint32_t reference : references(row)) {
        if (type(reference) == wanted && is_forward(reference)) {
            return target(reference);
        }
    }
    return no_row;
}

namespace {

// The first node that holds this one; `no_row` when none does.
std::uint32_t holder(std::uint32_t row) noexcept {
    for (const std::uint32_t reference : references(row)) {
        if (!is_forward(reference) && is_subtype(type(reference), well_known().hierarchical)) {
            return target(reference);
        }
    }
    return no_row;
}

}  // namespace

bool belongs_to_an_instance(std::uint32_t row) noexcept {
    // Object, Variable, Method and View; every other class is a type.
    constexpr unsigned instance_classes = 1U | 2U | 4U | 128U;
    constexpr int deepest = 64;
    const std::uint32_t root = find(0, id::root_folder);
    for (int level = 0; row != no_row && level < deepest; ++level) {
        if (row == root) {
            return true;
        }
        if ((standard_nodes[row].node_class & instance_classes) == 0) {
            return false;
        }
        row = holder(row);
    }
    return false;
}

double minimum_sampling_interval(std::uint32_t row) noexcept {
    for (std::size_t at = 0; at < standard_sampling_count; ++at) {
        if (standard_samplings[at].row == row) {
            return static_cast<double>(standard_samplings[at].minimum_interval_ms);
        }
    }
    return 0;
}

const standard_dimensions* dimensions(std::uint32_t row) noexcept {
    const standard_dimensions* const end = standard_dimension_rows + standard_dimension_count;
    const standard_dimensions* const found = std::lower_bound(
        standard_dimension_rows, end, row,
        [](const standard_dimensions& each, std::uint32_t wanted) { return each.row < wanted; });
    return found != end && found->row == row ? found : nullptr;
}

}  // namespace tagferry::opcua::standard
