// Schedules: scans, sampling, publishing, keep-alive. Slots of 1 ms, absolute due times, so that
// a schedule that adds its period to the last due time never drifts.
//
// The wheel has 8 levels of 64 slots. A slot of level 0 is one tick of 1 ms, a slot of level L is
// 64^L ticks; together they cover every time a `time_point` can hold, so there is no list of the
// far future. A timer sits at the level of the highest group of six bits in which its tick differs
// from the wheel's position, and moves down when the position enters its slot.
#pragma once

#include "transport/time/clock.hpp"
#include "transport/time/intrusive_list.hpp"
#include "transport/time/turn_budget.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tagferry::transport {

class timing_wheel;
class wheel_timer;

/// What the wheel keeps in a timer.
class wheel_link : public list_hook<wheel_timer> {
    friend class timing_wheel;
    friend class wheel_timer;

    timing_wheel* wheel_ = nullptr;
    time_point due_{};
    std::uint64_t tick_ = 0;
    std::uint16_t slot_ = 0;
};

/// Something to be called at a time. In at most one wheel; destruction cancels. See
/// `member_timer` for calling a member function.
class wheel_timer : public wheel_link {
  public:
    wheel_timer() noexcept = default;
    wheel_timer(const wheel_timer&) = delete;
    wheel_timer& operator=(const wheel_timer&) = delete;

    bool scheduled() const noexcept { return wheel_ != nullptr; }
    /// The time it is, or was last, scheduled for. During `fire` this is the time that has come.
    time_point due() const noexcept { return due_; }
    /// Takes it out of its wheel; nothing when it is in none.
    void cancel() noexcept;

    /// The time has come: never early, late by up to a tick of 1 ms and whatever the thread was
    /// late. Not scheduled any more when called; may schedule and cancel any timer, and destroy
    /// any, itself included.
    virtual void fire(time_point now) = 0;

  protected:
    ~wheel_timer() { cancel(); }
};

/// A timer that calls `(owner.*Method)(now)`.
template <class Owner, void (Owner::*Method)(time_point)>
class member_timer final : public wheel_timer {
  public:
    /// @param owner must outlive the timer, as it does when the timer is its member.
    explicit member_timer(Owner& owner) noexcept : owner_(owner) {}
    void fire(time_point now) override { (owner_.*Method)(now); }

  private:
    Owner& owner_;
};

/// The first time of the schedule `due`, `due + period`, … that lies after `now`: what a periodic
/// timer schedules itself for, skipping what a late wheel missed.
/// @param period over 0.
constexpr time_point next_due(time_point due, duration period, time_point now) noexcept {
    if (due > now) {
        return due;
    }
    return due + period * ((now - due) / period + 1);
}

/// All calls on one thread.
class timing_wheel {
  public:
    static constexpr duration tick_length = std::chrono::milliseconds{1};

    /// @param start now. Times before it are due at once.
    explicit timing_wheel(time_point start) noexcept : origin_(start) {}
    /// Takes out every timer still scheduled.
    ~timing_wheel();
    timing_wheel(const timing_wheel&) = delete;
    timing_wheel& operator=(const timing_wheel&) = delete;

    /// O(1). Moves the timer when it is scheduled already. A time that has passed is due at the
    /// next `advance`; `time_point::max()` is never, and cancels.
    void schedule(wheel_timer& timer, time_point due) noexcept;

    /// Fires every timer due by `now`, each once, in order of their ticks, those of one tick in
    /// the order they were scheduled.
    /// @param now not before that of the last call.
    /// @return true when all were fired; false when the budget ran out first: call again.
    /// An exception from `fire` passes through; the wheel stays whole and is advanced again.
    bool advance(time_point now, turn_budget& budget);

    /// When `advance` should be called next, never later than the earliest timer is due and at
    /// times earlier; `time_point::max()` when none is scheduled.
    time_point wake_time() const noexcept { return wake_time_; }

    /// Timers scheduled.
    std::size_t size() const noexcept { return size_; }

  private:
    friend class wheel_timer;
    using slot_list = intrusive_list<wheel_timer, wheel_timer>;

    static constexpr std::size_t level_bits = 6;
    static constexpr std::size_t slots_per_level = std::size_t{1} << level_bits;
    static constexpr std::size_t level_count = 8;
    static constexpr std::size_t no_slot = level_count * slots_per_level;
    static constexpr std::size_t moves_per_item = 16;

    std::uint64_t tick_at_or_after(time_point due) const noexcept;
    std::uint64_t slot_start(std::size_t slot) const noexcept;
    time_point time_of(std::uint64_t tick) const noexcept;
    std::size_t first_slot() const noexcept;
    void insert(wheel_timer& timer) noexcept;
    void remove(wheel_timer& timer) noexcept;
    void unmark_if_empty(std::size_t slot) noexcept;
    bool move_down(turn_budget& budget) noexcept;
    void update_wake_time() noexcept;

    time_point origin_;
    time_point wake_time_ = time_point::max();
    std::uint64_t position_ = 0;    ///< every earlier tick is done with
    std::size_t moving_ = no_slot;  ///< the slot whose timers are being moved down
    std::size_t size_ = 0;
    std::uint32_t occupied_levels_ = 0;
    std::array<std::uint64_t, level_count> occupied_{};
    std::array<slot_list, level_count * slots_per_level> slots_;
};

inline void wheel_timer::cancel() noexcept {
    if (wheel_ != nullptr) {
        wheel_->remove(*this);
    }
}

}  // namespace tagferry::transport
