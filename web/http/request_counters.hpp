// What was asked and how it was answered, by route template: never by raw path, so that a
// crawler cannot grow the metrics.
#pragma once

#include "transport/time/clock.hpp"
#include "web/http/status.hpp"

#include <prometheus/collectable.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tagferry::web {

/// `tagferry_http_requests_total{handler,code}` and
/// `tagferry_http_request_duration_seconds{handler}` (frame complete to response queued). Counted
/// by the shard thread alone, collected by any.
class request_counters final : public prometheus::Collectable {
  public:
    /// @param handlers labels of static storage.
    explicit request_counters(std::span<const std::string_view> handlers);

    /// @param handler an index into the labels.
    void count(std::size_t handler, http_status status, transport::duration elapsed) noexcept;

    /// Answers with this status so far, over all handlers.
    std::uint64_t answers(http_status status) const noexcept;

    std::vector<prometheus::MetricFamily> Collect() const override;

    static constexpr std::array<double, 9> bounds_s = {1e-5, 5e-5, 2e-4, 1e-3, 5e-3,
                                                       2e-2, 0.1,  0.5,  2.0};

  private:
    using counter = std::atomic<std::uint64_t>;
    // The shard thread is the only writer, so a load and a store make an increment.
    static void add(counter& to, std::uint64_t amount) noexcept {
        to.store(to.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }

    // What every answer touches lies in the first two cache lines.
    struct alignas(64) row {
        counter duration_ns{0};
        std::array<counter, bounds_s.size() + 1> by_duration{};
        std::array<counter, all_statuses.size()> by_status{};
    };

    std::span<const std::string_view> handlers_;
    std::vector<row> rows_;
};

}  // namespace tagferry::web
