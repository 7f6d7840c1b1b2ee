#include "gateway/log/repeat_limit.hpp"

#include <algorithm>
#include <limits>

namespace tagferry::gateway::log {

repeat_limit::verdict repeat_limit::judge(std::uint64_t subject,
                                          transport::time_point now) noexcept {
    const auto windows = static_cast<std::uint64_t>(now.time_since_epoch() / window);
    const std::uint64_t current = (windows + 1) & 0xFFFF'FFFFU;
    std::atomic<std::uint64_t>& slot = slots_[subject % slot_count];
    std::uint64_t seen = slot.load(std::memory_order_relaxed);
    while (true) {
        const auto count = static_cast<std::uint32_t>(seen);
        const bool same = (seen >> 32U) == current;
        const std::uint32_t next =
            same ? std::min(count, std::numeric_limits<std::uint32_t>::max() - 1) + 1 : 1;
        if (!slot.compare_exchange_weak(seen, current << 32U | next, std::memory_order_relaxed)) {
            continue;
        }
        const bool held_back = !same && count > lines_per_window;
        return {next <= lines_per_window, held_back ? count - lines_per_window : 0};
    }
}

}  // namespace tagferry::gateway::log
