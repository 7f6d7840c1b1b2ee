#include "web/live/stream_counters.hpp"

#include <prometheus/metric_family.h>

#include <utility>

namespace tagferry::web {
namespace {

prometheus::MetricFamily single(prometheus::MetricType type, const char* name, const char* help,
                                const stream_counters::number& value) {
    prometheus::MetricFamily family;
    family.type = type;
    family.name = name;
    family.help = help;
    prometheus::ClientMetric metric;
    const auto seen = static_cast<double>(value.load(std::memory_order_relaxed));
    (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = seen;
    family.metric.push_back(std::move(metric));
    return family;
}

}  // namespace

std::vector<prometheus::MetricFamily> stream_counters::Collect() const {
    using enum prometheus::MetricType;
    return {
        single(Gauge, "tagferry_ws_clients", "WebSocket clients of the stream.", sockets),
        single(Gauge, "tagferry_ws_subscriptions", "Their subscriptions.", subscriptions),
        single(Gauge, "tagferry_ws_entries", "Tags in these subscriptions.", entries),
        single(Counter, "tagferry_ws_messages_total", "Snapshots and deltas sent.", messages),
        single(Counter, "tagferry_ws_updates_total", "Values in them.", updates),
        single(Counter, "tagferry_ws_conflated_updates_total",
               "Values overtaken by a newer one before they were sent.", conflated),
        single(Counter, "tagferry_ws_slow_clients_closed_total",
               "Clients that did not take what they asked for.", slow),
        single(Counter, "tagferry_ws_refused_clients_total", "Upgrades refused at the limit.",
               refused),
    };
}

}  // namespace tagferry::web
