// Building metric families for Prometheus, shortly.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

namespace tagferry::gateway {

using label = prometheus::ClientMetric::Label;

class family {
  public:
    family(prometheus::MetricType type, std::string name, std::string help) {
        made_.type = type;
        made_.name = std::move(name);
        made_.help = std::move(help);
    }

    family& add(std::vector<label> labels, double value) {
        prometheus::ClientMetric metric;
        metric.label = std::move(labels);
        if (made_.type == prometheus::MetricType::Counter) {
            metric.counter.value = value;
        } else {
            metric.gauge.value = value;
        }
        made_.metric.push_back(std::move(metric));
        return *this;
    }

    template <typename Number>
    family& add(std::vector<label> labels, Number value) {
        return add(std::move(labels), static_cast<double>(value));
    }

    /// Takes the metric as it is: histograms.
    void add(prometheus::ClientMetric metric) { made_.metric.push_back(std::move(metric)); }

    prometheus::MetricFamily take() { return std::move(made_); }

  private:
    prometheus::MetricFamily made_;
};

inline family counter(std::string name, std::string help) {
    return {prometheus::MetricType::Counter, std::move(name), std::move(help)};
}
inline family gauge(std::string name, std::string help) {
    return {prometheus::MetricType::Gauge, std::move(name), std::move(help)};
}

/// `process_*` of this process, read from /proc; what cannot be read is left out.
void append_process_metrics(std::vector<prometheus::MetricFamily>& to);

}  // namespace tagferry::gateway
