// How much one turn may do before it lets the rest of its shard run.
#pragma once

#include "transport/time/clock.hpp"

#include <cstddef>

namespace tagferry::transport {

inline constexpr std::size_t turn_item_limit = 256;
inline constexpr duration turn_time_limit = std::chrono::microseconds{200};

/// Counts the items of one turn. The clock is read once in 16 items, so the time limit is exact
/// to the duration of that many.
class turn_budget {
  public:
    /// @param start the time the turn began.
    turn_budget(const clock& source, time_point start, std::size_t items = turn_item_limit,
                duration time = turn_time_limit) noexcept
        : clock_(source), end_(start + time), left_(items) {}

    /// True while one more item may be done, and takes it from the budget. Once false, false for
    /// ever.
    bool spend() noexcept {
        if (left_ == 0) {
            return false;
        }
        --left_;
        if (++spent_ % clock_stride == 0 && clock_.now() >= end_) {
            left_ = 0;
        }
        return true;
    }
    /// Takes `count` items at once, at most `left`, reading the clock no more than once.
    void spend(std::size_t count) noexcept {
        const std::size_t before = spent_ / clock_stride;
        left_ -= count;
        spent_ += count;
        if (spent_ / clock_stride != before && clock_.now() >= end_) {
            left_ = 0;
        }
    }
    std::size_t left() const noexcept { return left_; }
    bool exhausted() const noexcept { return left_ == 0; }

  private:
    static constexpr std::size_t clock_stride = 16;

    const clock& clock_;
    time_point end_;
    std::size_t left_;
    std::size_t spent_ = 0;
};

}  // namespace tagferry::transport
