// How the last reload of the configuration went: written by the control thread, read by any.
#pragma once

#include "transport/time/clock.hpp"

#include <atomic>

namespace tagferry::gateway {

struct reload_record {
    std::atomic<bool> last_successful{true};                  ///< the start counts as one
    std::atomic<transport::wall_time_ns> last_success_at{0};  ///< the start, or the last reload
};

}  // namespace tagferry::gateway
