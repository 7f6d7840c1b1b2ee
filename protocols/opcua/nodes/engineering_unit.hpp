// Engineering units by the name people write (Part 8 §5.6.3).
#pragma once

#include <cstdint>
#include <string_view>

namespace tagferry::opcua {

inline constexpr std::string_view unece_units_uri =
    "http://www.opcfoundation.org/UA/units/un/cefact";

/// The fields of EUInformation. Static storage but for the display name.
struct engineering_unit {
    std::string_view namespace_uri{};
    std::int32_t number = -1;  ///< -1: no unit of UN/ECE has this name
    std::string_view display_name{};
    std::string_view description{};
};

/// Finds "mm", "°C", "m³/h", … as UN/ECE writes them, and a few that are written otherwise ("%",
/// "rpm", "kWh"). Any other name is a unit of this server's own, without a number.
/// @param own_uri namespace of units that are not UN/ECE's.
engineering_unit find_unit(std::string_view name, std::string_view own_uri) noexcept;

}  // namespace tagferry::opcua
