#include "transport/time/timing_wheel.hpp"

#include <algorithm>
#include <bit>

namespace tagferry::transport {

timing_wheel::~timing_wheel() {
    for (slot_list& slot : slots_) {
        while (wheel_timer* const timer = slot.pop_front()) {
            timer->wheel_ = nullptr;
        }
    }
}

std::uint64_t timing_wheel::tick_at_or_after(time_point due) const noexcept {
    if (due <= origin_) {
        return 0;
    }
    const duration since = due - origin_;
    const auto whole = static_cast<std::uint64_t>(since / tick_length);
    return since % tick_length == duration::zero() ? whole : whole + 1;
}

time_point timing_wheel::time_of(std::uint64_t tick) const noexcept {
    const auto last = static_cast<std::uint64_t>((time_point::max() - origin_) / tick_length);
    return tick > last ? time_point::max()
                       : origin_ + tick_length * static_cast<duration::rep>(tick);
}

std::uint64_t timing_wheel::slot_start(std::size_t slot) const noexcept {
    const std::size_t shift = level_bits * (slot / slots_per_level);
    const std::uint64_t below = (std::uint64_t{1} << (shift + level_bits)) - 1;
    const std::uint64_t index = slot % slots_per_level;
    return (position_ & ~below) | (index << shift);
}

// All slots of a level lie in the position's own slot of the level above, so the lowest level
// that has timers has the earliest, and no slot behind the position is occupied.
std::size_t timing_wheel::first_slot() const noexcept {
    if (occupied_levels_ == 0) {
        return no_slot;
    }
    const auto level = static_cast<std::size_t>(std::countr_zero(occupied_levels_));
    const auto index = static_cast<std::size_t>(std::countr_zero(occupied_[level]));
    return level * slots_per_level + index;
}

void timing_wheel::insert(wheel_timer& timer) noexcept {
    timer.tick_ = std::max(timer.tick_, position_);
    const std::uint64_t difference = timer.tick_ ^ position_;
    const std::size_t top_bit =
        difference == 0 ? 0 : static_cast<std::size_t>(std::bit_width(difference)) - 1;
    const std::size_t level = top_bit / level_bits;
    const std::size_t index = (timer.tick_ >> (level * level_bits)) % slots_per_level;
    timer.slot_ = static_cast<std::uint16_t>(level * slots_per_level + index);
    slots_[timer.slot_].push_back(timer);
    occupied_[level] |= std::uint64_t{1} << index;
    occupied_levels_ |= std::uint32_t{1} << level;
}

void timing_wheel::unmark_if_empty(std::size_t slot) noexcept {
    if (!slots_[slot].empty()) {
        return;
    }
    const std::size_t level = slot / slots_per_level;
    occupied_[level] &= ~(std::uint64_t{1} << (slot % slots_per_level));
    if (occupied_[level] == 0) {
        occupied_levels_ &= ~(std::uint32_t{1} << level);
    }
}

void timing_wheel::remove(wheel_timer& timer) noexcept {
    slot_list::unlink(timer);
    unmark_if_empty(timer.slot_);
    timer.wheel_ = nullptr;
    --size_;
}

void timing_wheel::schedule(wheel_timer& timer, time_point due) noexcept {
    timer.cancel();
    timer.due_ = due;
    if (due == time_point::max()) {
        return;
    }
    timer.tick_ = tick_at_or_after(due);
    timer.wheel_ = this;
    insert(timer);
    ++size_;
    wake_time_ = std::min(wake_time_, time_of(timer.tick_));
}

bool timing_wheel::move_down(turn_budget& budget) noexcept {
    slot_list& from = slots_[moving_];
    for (std::size_t moved = 0; !from.empty(); ++moved) {
        if (moved % moves_per_item == 0 && !budget.spend()) {
            return false;
        }
        insert(*from.pop_front());
    }
    unmark_if_empty(moving_);
    moving_ = no_slot;
    return true;
}

bool timing_wheel::advance(time_point now, turn_budget& budget) {
    const std::uint64_t target =
        now <= origin_ ? 0 : static_cast<std::uint64_t>((now - origin_) / tick_length);
    for (;;) {
        if (moving_ == no_slot) {
            const std::size_t slot = first_slot();
            if (slot == no_slot || slot_start(slot) > target) {
                break;
            }
            position_ = std::max(position_, slot_start(slot));
            if (slot < slots_per_level) {
                if (!budget.spend()) {
                    wake_time_ = time_of(position_);
                    return false;
                }
                wheel_timer& timer = slots_[slot].front();
                remove(timer);
                timer.fire(now);
                continue;
            }
            moving_ = slot;
        }
        if (!move_down(budget)) {
            wake_time_ = time_of(position_);
            return false;
        }
    }
    position_ = std::max(position_, target);
    update_wake_time();
    return true;
}

void timing_wheel::update_wake_time() noexcept {
    const std::size_t slot = first_slot();
    if (slot == no_slot) {
        wake_time_ = time_point::max();
    } else if (slots_[slot].has_one_member()) {
        wake_time_ = time_of(slots_[slot].front().tick_);
    } else {
        wake_time_ = time_of(slot_start(slot));
    }
}

}  // namespace tagferry::transport
