#include "web/http/request_counters.hpp"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace tagferry::web {
namespace {

constexpr auto bounds_ns = [] {
    std::array<std::int64_t, request_counters::bounds_s.size()> bounds{};
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        bounds[i] = static_cast<std::int64_t>(request_counters::bounds_s[i] * 1e9 + 0.5);
    }
    return bounds;
}();

}  // namespace

request_counters::request_counters(std::span<const std::string_view> handlers)
    : handlers_(handlers), rows_(handlers.size()) {}

void request_counters::count(std::size_t handler, http_status status,
                             transport::duration elapsed) noexcept {
    row& counted = rows_[handler];
    add(counted.by_status[index_of(status)], 1);
    const std::int64_t ns = std::max<std::int64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count(), 0);
    std::size_t bucket = 0;
    while (bucket < bounds_ns.size() && ns > bounds_ns[bucket]) {
        ++bucket;
    }
    add(counted.by_duration[bucket], 1);
    add(counted.duration_ns, static_cast<std::uint64_t>(ns));
}

std::uint64_t request_counters::answers(http_status status) const noexcept {
    std::uint64_t sum = 0;
    for (const row& counted : rows_) {
        sum += counted.by_status[index_of(status)].load(std::memory_order_relaxed);
    }
    return sum;
}

std::vector<prometheus::MetricFamily> request_counters::Collect() const {
    prometheus::MetricFamily requests;
    requests.name = "tagferry_http_requests_total";
    requests.help = "HTTP requests answered, by route and status code.";
    requests.type = prometheus::MetricType::Counter;
    prometheus::MetricFamily durations;
    durations.name = "tagferry_http_request_duration_seconds";
    durations.help = "Time from a complete request to its queued answer.";
    durations.type = prometheus::MetricType::Histogram;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const std::string handler(handlers_[i]);
        for (std::size_t k = 0; k < all_statuses.size(); ++k) {
            const std::uint64_t value = rows_[i].by_status[k].load(std::memory_order_relaxed);
            // The series of success is there from the first scrape, others once they happen.
            if (value == 0 && all_statuses[k] != http_status::ok) {
                continue;
            }
            prometheus::ClientMetric metric;
            metric.label = {{"handler", handler},
                            {"code", std::to_string(static_cast<unsigned>(all_statuses[k]))}};
            metric.counter.value = static_cast<double>(value);
            requests.metric.push_back(std::move(metric));
        }
        prometheus::ClientMetric metric;
        metric.label = {{"handler", handler}};
        std::uint64_t cumulative = 0;
        for (std::size_t k = 0; k < bounds_s.size(); ++k) {
            cumulative += rows_[i].by_duration[k].load(std::memory_order_relaxed);
            metric.histogram.bucket.push_back({cumulative, bounds_s[k]});
        }
        cumulative += rows_[i].by_duration.back().load(std::memory_order_relaxed);
        metric.histogram.sample_count = cumulative;
        metric.histogram.sample_sum =
            static_cast<double>(rows_[i].duration_ns.load(std::memory_order_relaxed)) * 1e-9;
        durations.metric.push_back(std::move(metric));
    }
    return {std::move(requests), std::move(durations)};
}

}  // namespace tagferry::web
