// What the stream counts.
#pragma once

#include <prometheus/collectable.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace tagferry::web {

/// Written by the shard thread alone, collected by any.
class stream_counters final : public prometheus::Collectable {
  public:
    using number = std::atomic<std::uint64_t>;

    number sockets{0};        ///< open
    number subscriptions{0};  ///< not retired
    number entries{0};        ///< tags in them
    number messages{0};       ///< snapshots and deltas sent
    number updates{0};        ///< values in them
    number conflated{0};      ///< values overtaken before they were sent
    number slow{0};           ///< sockets closed because their client was too slow
    number refused{0};        ///< upgrades refused at the limit

    static void add(number& to, std::uint64_t amount) noexcept {
        to.store(to.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    static void subtract(number& from, std::uint64_t amount) noexcept {
        from.store(from.load(std::memory_order_relaxed) - amount, std::memory_order_relaxed);
    }

    std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace tagferry::web
