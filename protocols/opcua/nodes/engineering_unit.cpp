#include "protocols/opcua/nodes/engineering_unit.hpp"

#include "protocols/opcua/spec/units.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tagferry::opcua {
namespace {

// What plants write, and the name that UN/ECE has for it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> other_names = {{
    {"%", "% or pct"},
    {"1/min", "r/min"},
    {"L", "l"},
    {"Wh", "W·h"},
    {"kWh", "kW·h"},
    {"m2", "m²"},
    {"m3", "m³"},
    {"rpm", "r/min"},
}};

std::string_view name_of(const unit_row& row) noexcept {
    return {unit_bytes + row.begin, row.name_size};
}

}  // namespace

engineering_unit find_unit(std::string_view name, std::string_view own_uri) noexcept {
    std::string_view wanted = name;
    for (const auto& [written, known] : other_names) {
        wanted = name == written ? known : wanted;
    }
    const unit_row* const end = unit_rows + unit_count;
    const unit_row* const found = std::lower_bound(
        unit_rows, end, wanted,
        [](const unit_row& row, std::string_view text) { return name_of(row) < text; });
    if (found == end || name_of(*found) != wanted) {
        return {own_uri, -1, name, {}};
    }
    return {unece_units_uri,
            found->number,
            name,
            {unit_bytes + found->begin + found->name_size, found->description_size}};
}

}  // namespace tagferry::opcua
