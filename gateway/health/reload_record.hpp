// How the last reload of the configuration went: written by the control thread, read by any.
#pragma once

#include "transport/time/clock.hpp"

#include <atomic>
#include <cstdint>

namespace tagferry::gateway {

struct reload_record {
    std::atomic<bool> last_successful{true};                  ///< the start counts as one
    std::atomic<transport::wall_time_ns> last_success_at{0};  ///< the start, or the last reload
    std::atomic<std::uint64_t> revision{0};  ///< configurations taken over, the start's included
};

}  // namespace tagferry::gateway
