// Keeps a fault that repeats from filling the log: a few lines a window, then a count.
#pragma once

#include "transport/time/clock.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tagferry::gateway::log {

/// Lock-free, of fixed size, callable from any thread. Subjects that share a slot by chance share
/// its budget.
class repeat_limit {
  public:
    static constexpr std::uint32_t lines_per_window = 5;
    static constexpr std::chrono::seconds window{10};

    struct verdict {
        bool write = false;
        std::uint32_t not_written = 0;  ///< lines held back in the windows before this line
    };

    /// Judges one line. @param subject a hash of the event and what it is about.
    verdict judge(std::uint64_t subject, transport::time_point now) noexcept;

  private:
    static constexpr std::size_t slot_count = 1'024;
    // Upper half: the window's number, from 1; lower half: lines judged in it.
    std::array<std::atomic<std::uint64_t>, slot_count> slots_{};
};

}  // namespace tagferry::gateway::log
