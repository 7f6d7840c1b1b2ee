// The links to the devices and how they are.
#pragma once

#include "transport/time/clock.hpp"
#include "web/backend/call.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagferry::web {

/// Views stay valid until the next call into this interface or the end of the turn.
struct connection_row {
    std::string_view name;
    std::string_view protocol;  ///< e.g. "s7"
    std::string_view endpoint;  ///< host and port
    std::string_view state;     ///< one lower-case word: "up", "connecting", "waiting", "stopped"
    std::string_view reason;    ///< why it is not up, in words; empty when up
    bool up = false;
    transport::wall_time_ns since = 0;         ///< it is up, stopped, or neither; 0: unknown
    transport::wall_time_ns next_attempt = 0;  ///< 0: none planned
    std::uint64_t connects = 0;                ///< successful ones since start
    std::uint64_t connect_failures = 0;
    std::uint64_t requests = 0;          ///< jobs sent
    std::uint64_t request_failures = 0;  ///< jobs without a usable answer
    std::uint64_t overruns = 0;          ///< scans skipped because the one before was not over
    std::uint32_t tags = 0;
    std::uint32_t tags_good = 0;
    std::uint32_t tags_uncertain = 0;
    std::uint32_t tags_bad = 0;
    std::uint32_t pdu_size = 0;  ///< negotiated; 0 while not up
    std::uint32_t window = 0;    ///< jobs in flight the device takes; 0 while not up
};

class connections {
  public:
    /// The first connection at or after `position`, which moves past it (0 starts, stable).
    /// `done` or `end`.
    virtual outcome next(const call& context, std::uint64_t& position, connection_row& row) = 0;

    /// The connection of this name. `done`, `not_found` or `forbidden`.
    virtual outcome find(const call& context, std::string_view name, connection_row& row) = 0;

  protected:
    ~connections() = default;
};

}  // namespace tagferry::web
