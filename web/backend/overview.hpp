// The whole gateway in a few numbers.
#pragma once

#include "transport/memory/operations.hpp"
#include "transport/time/clock.hpp"
#include "web/backend/call.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace tagferry::web {

/// Views stay valid until the next call into this interface or the end of the turn.
struct overview_row {
    transport::wall_time_ns now = 0;  ///< by the gateway's clock, in ns since 1970
    /// Counts up whenever tags were added, changed or removed; begins again with the process.
    std::uint64_t revision = 0;
    std::uint32_t connections = 0;
    std::uint32_t connections_up = 0;
    std::uint64_t tags_good = 0;
    std::uint64_t tags_uncertain = 0;
    std::uint64_t tags_bad = 0;
    std::span<const std::string> opcua_endpoints;  ///< as clients dial them
    std::uint64_t opcua_sessions = 0;
    transport::operation_totals reads;  ///< jobs that read from devices, since the start
};

class overview {
  public:
    /// `done` or `forbidden`.
    virtual outcome describe(const call& context, overview_row& row) = 0;

  protected:
    ~overview() = default;
};

}  // namespace tagferry::web
