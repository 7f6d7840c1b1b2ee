// Ports that nobody listens on.
#pragma once

#include <cstdint>

namespace tagferry::gateway::cli {

/// The first port on 127.0.0.1 from `first` on that can be listened on now, of the next hundred;
/// `first` when there is none, whose listener then says why. Another process may take it in the
/// meantime.
/// @param together so many in a row have to be free.
std::uint16_t next_free_port(std::uint16_t first, std::uint16_t together = 1) noexcept;

}  // namespace tagferry::gateway::cli
