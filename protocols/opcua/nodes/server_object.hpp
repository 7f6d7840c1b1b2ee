// Values of the Server object that live: status, arrays of URIs, limits (Part 5 §6.3).
#pragma once

#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/nodes/server_view.hpp"
#include "transport/time/clock.hpp"

#include <cstdint>

namespace tagferry::opcua {

/// Writes the Variant of a live variable of namespace 0.
/// @return false, with nothing written, when this number is none of them.
bool write_live_value(encoder& out, std::uint32_t number, const server_view& server,
                      transport::wall_time_ns now);

/// Whether the value of a variable of namespace 0 may change while the server runs.
bool value_lives(std::uint32_t number) noexcept;

}  // namespace tagferry::opcua
