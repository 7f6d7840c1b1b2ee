#include "protocols/opcua/nodes/properties.hpp"

#include "protocols/opcua/nodes/engineering_unit.hpp"
#include "protocols/opcua/nodes/namespaces.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <array>

namespace tagferry::opcua {
namespace {

constexpr std::uint32_t string_type = 12;
constexpr std::uint32_t localized_text_type = 21;
constexpr std::uint32_t int32_type = 6;

void write_unit(encoder& out, const tree_node& owner) {
    const engineering_unit unit = find_unit(owner.unit, tags_uri);
    out.variant_head(builtin_type::extension_object);
    out.numeric_id(namespace_standard, id::euinformation_binary);
    out.u8(1);
    std::byte* const length = out.reserve<std::int32_t>();
    const std::size_t begin = out.used();
    out.string(unit.namespace_uri);
    out.i32(unit.number);
    out.localized_text(unit.display_name);
    out.localized_text(unit.description.empty() ? unit.display_name : unit.description);
    encoder::patch(length, static_cast<std::int32_t>(out.used() - begin));
}

void write_text(encoder& out, std::string_view text) noexcept {
    out.variant_head(builtin_type::localized_text);
    out.localized_text(text.empty() ? text_view{""} : text);
}

void write_manufacturer(encoder& out, const tree_node& owner) {
    write_text(out, owner.manufacturer);
}

void write_model(encoder& out, const tree_node& owner) {
    write_text(out, owner.model);
}

void write_empty(encoder& out, const tree_node&) {
    out.variant_head(builtin_type::string);
    out.string("");
}

void write_no_counter(encoder& out, const tree_node&) {
    out.variant_head(builtin_type::int32);
    out.i32(-1);
}

constexpr std::array<property, 1> of_tags = {{
    {"EngineeringUnits", namespace_standard, id::euinformation, write_unit},
}};

constexpr std::array<property, 8> of_connections = {{
    {"Manufacturer", namespace_devices, localized_text_type, write_manufacturer},
    {"Model", namespace_devices, localized_text_type, write_model},
    {"HardwareRevision", namespace_devices, string_type, write_empty},
    {"SoftwareRevision", namespace_devices, string_type, write_empty},
    {"DeviceRevision", namespace_devices, string_type, write_empty},
    {"DeviceManual", namespace_devices, string_type, write_empty},
    {"SerialNumber", namespace_devices, string_type, write_empty},
    {"RevisionCounter", namespace_devices, int32_type, write_no_counter},
}};

}  // namespace

std::span<const property> properties_of(const tree_node& owner) noexcept {
    switch (owner.handle.kind) {
        case tree_kind::tag:
            return std::span{of_tags}.first(owner.unit.empty() ? 0 : of_tags.size());
        case tree_kind::connection:
            return of_connections;
        default:
            return {};
    }
}

}  // namespace tagferry::opcua
