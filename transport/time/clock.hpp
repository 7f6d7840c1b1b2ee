// Where the product's time comes from: a monotonic clock for every deadline and schedule, a
// wall clock only for timestamps that people and clients read.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace tagferry::transport {

/// Monotonic. Every deadline, timeout and schedule is one of these; `time_point::max()` is never.
using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// Nanoseconds since 1970-01-01T00:00:00Z. Only ever stored and shown, never compared with now.
using wall_time_ns = std::int64_t;

/// Both clocks behind one interface, so that tests move time by hand. Implementations must be
/// callable from any thread.
class clock {
  public:
    virtual ~clock() = default;
    virtual time_point now() const noexcept = 0;
    virtual wall_time_ns wall_now() const noexcept = 0;
};

/// The machine's clocks. CLOCK_MONOTONIC and CLOCK_REALTIME.
class real_clock final : public clock {
  public:
    time_point now() const noexcept override {
        // What std::chrono::steady_clock::now() does, without the way through its library: a turn
        // begins with this call.
        timespec read{};
        clock_gettime(CLOCK_MONOTONIC, &read);
        return time_point{std::chrono::seconds{read.tv_sec} +
                          std::chrono::nanoseconds{read.tv_nsec}};
    }
    wall_time_ns wall_now() const noexcept override {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    }
};

}  // namespace tagferry::transport
