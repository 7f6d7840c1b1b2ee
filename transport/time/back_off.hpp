// How long to wait before trying again: doubling, with a ceiling, and spread by chance so that
// many links that fell together do not come back together.
#pragma once

#include "transport/time/clock.hpp"

#include <cstdint>

namespace tagferry::transport {

struct back_off_options {
    duration first = std::chrono::milliseconds{500};     ///< before the second attempt; over 0
    duration ceiling = std::chrono::milliseconds{5000};  ///< at least `first`
    /// Share of each delay that chance may take away, 0 to 1: a delay of d becomes one in
    /// [d * (1 - jitter), d]. Chance only shortens, so the ceiling holds.
    double jitter = 0.2;
};

/// One sequence of delays. The same seed gives the same sequence.
class back_off {
  public:
    back_off(const back_off_options& options, std::uint64_t seed) noexcept;

    /// The delay before the next attempt: first, 2 * first, 4 * first, … up to the ceiling, each
    /// less its jitter. Counts one failure.
    duration next() noexcept;
    /// After a success: the next delay is the first again. The chance goes on.
    void reset() noexcept;
    /// Failures since the last reset.
    std::uint64_t failures() const noexcept { return failures_; }

  private:
    back_off_options options_;
    duration delay_;
    std::uint64_t failures_ = 0;
    std::uint64_t random_state_;
};

}  // namespace tagferry::transport
