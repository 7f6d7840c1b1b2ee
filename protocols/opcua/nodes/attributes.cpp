#include "protocols/opcua/nodes/attributes.hpp"

#include "protocols/opcua/nodes/server_object.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

namespace tagferry::opcua {
namespace {

constexpr std::uint8_t access_read = 1;
constexpr std::uint8_t access_write = 2;

void write_bool(encoder& out, bool value) noexcept {
    out.variant_head(builtin_type::boolean);
    out.boolean(value);
}

void write_byte(encoder& out, std::uint8_t value) noexcept {
    out.variant_head(builtin_type::byte);
    out.u8(value);
}

void write_uint32(encoder& out, std::uint32_t value) noexcept {
    out.variant_head(builtin_type::uint32);
    out.u32(value);
}

void write_localized(encoder& out, std::string_view text) noexcept {
    out.variant_head(builtin_type::localized_text);
    // LocalizedText with text only (E34); an absent text is null, not empty.
    out.localized_text(text.empty() ? text_view{} : text);
}

// The attributes that every node has (Part 3 §5.2).
bool write_common(encoder& out, const node_head& head, std::string_view description,
                  attribute which) noexcept {
    switch (which) {
        case attribute::node_id:
            out.variant_head(builtin_type::node_id);
            write_node_id(out, head);
            return true;
        case attribute::node_class:
            out.variant_head(builtin_type::int32);
            out.i32(static_cast<std::int32_t>(head.kind));
            return true;
        case attribute::browse_name:
            out.variant_head(builtin_type::qualified_name);
            out.qualified_name(head.browse_namespace, head.browse_name);
            return true;
        case attribute::display_name:
            write_localized(out, head.display_name);
            return true;
        case attribute::description:
            write_localized(out, description);
            return true;
        case attribute::write_mask:
        case attribute::user_write_mask:
            write_uint32(out, 0);
            return true;
        default:
            return false;
    }
}

// What a Variable says about its value (Part 3 §5.6.2).
struct variable_facts {
    node_id_view data_type{};
    std::int32_t value_rank = -1;
    std::uint32_t dimension_count = 0;
    std::array<std::uint32_t, 3> dimensions{};
    std::uint8_t access = access_read;
    std::uint8_t user_access = access_read;  ///< what the asking user may of it
    double minimum_sampling_interval_ms = 0;
};

void write_dimensions(encoder& out, const variable_facts& facts) noexcept {
    out.variant_array_head(builtin_type::uint32, facts.dimension_count);
    for (std::uint32_t at = 0; at < facts.dimension_count; ++at) {
        out.u32(facts.dimensions[at]);
    }
}

bool write_type_facts(encoder& out, const variable_facts& facts, attribute which) noexcept {
    switch (which) {
        case attribute::data_type:
            out.variant_head(builtin_type::node_id);
            out.node_id(facts.data_type);
            return true;
        case attribute::value_rank:
            out.variant_head(builtin_type::int32);
            out.i32(facts.value_rank);
            return true;
        case attribute::array_dimensions:
            write_dimensions(out, facts);
            return true;
        default:
            return false;
    }
}

bool write_variable(encoder& out, const variable_facts& facts, attribute which) noexcept {
    switch (which) {
        case attribute::access_level:
            write_byte(out, facts.access);
            return true;
        case attribute::user_access_level:
            write_byte(out, facts.user_access);
            return true;
        case attribute::access_level_ex:
            write_uint32(out, facts.access);
            return true;
        case attribute::minimum_sampling_interval:
            out.variant_head(builtin_type::float64);
            out.float64(facts.minimum_sampling_interval_ms);
            return true;
        case attribute::historizing:
            write_bool(out, false);
            return true;
        default:
            return write_type_facts(out, facts, which);
    }
}

variable_facts facts_of_row(std::uint32_t row) noexcept {
    const standard_node& node = standard_nodes[row];
    variable_facts facts;
    facts.data_type = address_space::id_of_row(node.data_type);
    facts.value_rank = node.value_rank;
    // The address space is served as it is: what the NodeSet lets be written is not offered.
    facts.access = static_cast<std::uint8_t>(node.access_level & ~unsigned{access_write});
    facts.user_access = facts.access;
    facts.minimum_sampling_interval_ms = standard::minimum_sampling_interval(row);
    if (const standard_dimensions* stated = standard::dimensions(row)) {
        facts.dimension_count = stated->count;
        for (std::uint32_t at = 0; at < stated->count; ++at) {
            facts.dimensions[at] = stated->sizes[at];
        }
    } else if (node.value_rank > 0) {
        facts.dimension_count = static_cast<std::uint32_t>(node.value_rank);
    }
    return facts;
}

variable_facts facts_of_tag(const tree_node& tag, const actor& who) noexcept {
    variable_facts facts;
    // The built-in types are the data types of the same number.
    facts.data_type = {0, node_id_kind::numeric, static_cast<std::uint32_t>(tag.type), {}};
    if (tag.array_length >= 0) {
        facts.value_rank = 1;
        facts.dimension_count = 1;
        facts.dimensions[0] = static_cast<std::uint32_t>(tag.array_length);
    }
    facts.access = static_cast<std::uint8_t>((tag.readable ? access_read : 0) |
                                             (tag.writable ? access_write : 0));
    facts.user_access = static_cast<std::uint8_t>(
        facts.access & ~(who.has(role::operator_) ? 0U : unsigned{access_write}));
    facts.minimum_sampling_interval_ms = tag.minimum_sampling_interval_ms;
    return facts;
}

status_code write_property(encoder& out, const tree_node& owner, std::uint8_t number,
                           attribute which) {
    if (number > properties_of(owner).size()) {
        return status::bad_node_id_unknown;
    }
    const property& what = properties_of(owner)[number - 1U];
    if (which == attribute::value) {
        what.write(out, owner);
        return status::good;
    }
    variable_facts facts;
    facts.data_type = {namespace_standard, node_id_kind::numeric, what.data_type, {}};
    const node_head head = address_space::head_of_property(owner, number);
    return write_common(out, head, {}, which) || write_variable(out, facts, which)
               ? status::good
               : status::bad_attribute_id_invalid;
}

// A variable of an instance that has no value stands for a feature that this server does not have,
// and null would say that it has it and there is nothing. Declarations of types have no value, and
// null says so.
status_code write_standard_value(encoder& out, std::uint32_t row, const server_view& server,
                                 transport::wall_time_ns now) {
    const standard_node& node = standard_nodes[row];
    if (node.namespace_index == namespace_standard &&
        write_live_value(out, node.number, server, now)) {
        return status::good;
    }
    const bytes_view fixed = standard::value(row);
    if (!fixed.empty()) {
        out.raw(fixed);
        return status::good;
    }
    if (standard::belongs_to_an_instance(row)) {
        return status::bad_not_supported;
    }
    out.variant_head(builtin_type::null);
    return status::good;
}

bool write_of_class(encoder& out, std::uint32_t row, attribute which) {
    const standard_node& node = standard_nodes[row];
    const bool is_abstract = (node.flags & standard_is_abstract) != 0;
    switch (static_cast<node_class>(node.node_class)) {
        case node_class::object:
            if (which == attribute::event_notifier) {
                write_byte(out, (node.flags & standard_has_events) != 0 ? 1 : 0);
                return true;
            }
            return false;
        case node_class::variable:
            return write_variable(out, facts_of_row(row), which);
        case node_class::method:
            // No method can be called yet, and saying so spares clients the try.
            if (which == attribute::executable || which == attribute::user_executable) {
                write_bool(out, false);
                return true;
            }
            return false;
        case node_class::variable_type:
            if (which == attribute::is_abstract) {
                write_bool(out, is_abstract);
                return true;
            }
            return write_type_facts(out, facts_of_row(row), which);
        case node_class::reference_type:
            if (which == attribute::symmetric) {
                write_bool(out, (node.flags & standard_is_symmetric) != 0);
                return true;
            }
            if (which == attribute::inverse_name) {
                write_localized(out, standard::text(node.text));
                return true;
            }
            break;
        case node_class::data_type:
            if (which == attribute::data_type_definition && !standard::value(row).empty()) {
                out.raw(standard::value(row));
                return true;
            }
            break;
        default:
            break;
    }
    if (which == attribute::is_abstract) {
        write_bool(out, is_abstract);
        return true;
    }
    return false;
}

}  // namespace

status_code write_attribute(encoder& out, const server_view& server, const call& context,
                            const node_key& key, std::uint32_t which, transport::wall_time_ns now) {
    const auto wanted = static_cast<attribute>(which);
    bool written = false;
    if (key.in_tree) {
        tree_node node;
        if (!server.ports.browse.describe(context, key.tree, node)) {
            return status::bad_node_id_unknown;
        }
        if (key.property != 0) {
            return write_property(out, node, key.property, wanted);
        }
        written = write_common(out, address_space::head_of(node), node.description, wanted);
        if (!written && node.handle.kind == tree_kind::tag) {
            written = write_variable(out, facts_of_tag(node, context.who), wanted);
        } else if (!written && wanted == attribute::event_notifier) {
            write_byte(out, 0);
            written = true;
        }
    } else if (wanted == attribute::value && standard_nodes[key.row].node_class ==
                                                 static_cast<std::uint8_t>(node_class::variable)) {
        return write_standard_value(out, key.row, server, now);
    } else {
        const bool is_reference_type = standard_nodes[key.row].node_class ==
                                       static_cast<std::uint8_t>(node_class::reference_type);
        written = write_common(out, address_space::head_of_row(key.row),
                               is_reference_type ? std::string_view{}
                                                 : standard::text(standard_nodes[key.row].text),
                               wanted) ||
                  write_of_class(out, key.row, wanted);
    }
    return written ? status::good : status::bad_attribute_id_invalid;
}

}  // namespace tagferry::opcua
