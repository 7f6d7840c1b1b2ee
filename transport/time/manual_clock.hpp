// A clock that stands still until it is told otherwise: the time of tests and simulations.
#pragma once

#include "transport/time/clock.hpp"

#include <atomic>

namespace tagferry::transport {

/// Both clocks move together with `advance`. May be read and moved from any thread.
class manual_clock final : public clock {
  public:
    /// @param start monotonic time since the clock's own epoch. @param wall_start_ns wall time.
    explicit manual_clock(duration start = std::chrono::hours{1},
                          wall_time_ns wall_start_ns = 1'700'000'000'000'000'000) noexcept
        : now_(start.count()), wall_ns_(wall_start_ns) {}

    time_point now() const noexcept override {
        return time_point{duration{now_.load(std::memory_order_acquire)}};
    }
    wall_time_ns wall_now() const noexcept override {
        return wall_ns_.load(std::memory_order_acquire);
    }

    /// @param step not negative.
    void advance(duration step) noexcept {
        now_.fetch_add(step.count(), std::memory_order_acq_rel);
        wall_ns_.fetch_add(std::chrono::nanoseconds{step}.count(), std::memory_order_acq_rel);
    }
    /// Sets the wall clock alone, forwards or backwards, as NTP or an operator does.
    void set_wall(wall_time_ns value) noexcept { wall_ns_.store(value, std::memory_order_release); }

  private:
    std::atomic<duration::rep> now_;
    std::atomic<wall_time_ns> wall_ns_;
};

}  // namespace tagferry::transport
