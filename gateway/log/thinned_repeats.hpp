// Keeps something that goes on and on from filling the log: the first time is written, then at
// growing intervals, with how often it happened meanwhile.
#pragma once

#include "transport/time/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tagferry::gateway::log {

/// Of one kind of event about one subject; one thread.
class thinned_repeats {
  public:
    static constexpr std::chrono::seconds first_interval{10};
    static constexpr std::chrono::hours longest_interval{1};

    /// It happened. @return how often since it was last written, this time included, when it is to
    /// be written now.
    std::optional<std::uint64_t> happened(transport::time_point now) noexcept {
        ++count_;
        if (now < next_) {
            return std::nullopt;
        }
        const bool went_on = next_ != transport::time_point{} && now - next_ <= interval_;
        interval_ = went_on ? std::min<transport::duration>(2 * interval_, longest_interval)
                            : transport::duration{first_interval};
        written_ = now;
        next_ = now + interval_;
        const std::uint64_t count = count_;
        count_ = 0;
        return count;
    }

    /// It is over: the next time is written at once.
    void begin_anew() noexcept { *this = {}; }
    /// It goes on in another way: the next time is written soon.
    void changed() noexcept {
        interval_ = first_interval;
        next_ = std::min(next_, written_ + interval_);
    }

  private:
    transport::time_point written_{};
    transport::time_point next_{};
    transport::duration interval_ = first_interval;
    std::uint64_t count_ = 0;
};

}  // namespace tagferry::gateway::log
