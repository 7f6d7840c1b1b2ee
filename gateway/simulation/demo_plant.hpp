// The plant of `tagferry demo`: what its two PLCs hold, and the tags that show it. One table says
// both, so that a tag never points at nothing.
#pragma once

#include "gateway/config/configuration.hpp"
#include "protocols/s7/simulator/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

inline constexpr std::size_t demo_plc_count = 2;

/// Name of the connection to a PLC of the plant, 0 or 1. Static storage.
const char* demo_plc_name(std::size_t plc) noexcept;

/// What the simulated PLC is made of, with signals that move by themselves.
/// @param plc 0 (an S7-1500 at a press) or 1 (an S7-300 at a boiler).
s7::simulator_config demo_plc(std::size_t plc);

/// The same PLC with still memory, for plant_physics to move.
s7::simulator_config still_demo_plc(std::size_t plc);

/// Where a tag of the plant lies. `path` is relative to its connection, static storage.
struct demo_point {
    std::string_view path;
    s7::address where;
    s7::data_type type;
};
std::vector<demo_point> demo_points(std::size_t plc);

/// The connection and its tags as a configuration file would say them, not yet resolved.
/// @param port where the simulated PLC listens on loopback.
config::connection demo_connection(std::size_t plc, std::uint16_t port);

}  // namespace tagferry::gateway
