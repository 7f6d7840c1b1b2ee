#include "gateway/health/metrics.hpp"

#include "gateway/health/families.hpp"
#include "transport/memory/operations.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "transport/net/traffic.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

namespace tagferry::gateway {
namespace {

using families = std::vector<prometheus::MetricFamily>;

void append_operations(families& to) {
    auto operations = counter("tagferry_operations_total", "Operations finished, by kind.");
    auto allocations = counter("tagferry_operation_allocations_total",
                               "Heap allocations charged to each kind of operation.");
    auto bytes = counter("tagferry_operation_allocated_bytes_total",
                         "Heap bytes charged to each kind of operation.");
    family durations{prometheus::MetricType::Histogram, "tagferry_operation_duration_seconds",
                     "How long an operation took."};
    const auto totals = transport::operation_totals_now();
    const auto names = transport::operation_kind_names();
    for (std::size_t kind = 0; kind < names.size(); ++kind) {
        const transport::operation_totals& total = totals[kind];
        const std::vector<label> labels = {{"kind", std::string(names[kind])}};
        operations.add(labels, total.operations);
        allocations.add(labels, total.allocations);
        bytes.add(labels, total.allocated_bytes);
        prometheus::ClientMetric metric;
        metric.label = labels;
        std::uint64_t cumulative = 0;
        for (std::size_t i = 0; i < total.duration_buckets.size(); ++i) {
            cumulative += total.duration_buckets[i];
            prometheus::ClientMetric::Bucket bucket;
            bucket.cumulative_count = cumulative;
            bucket.upper_bound = i < transport::operation_duration_bounds_s.size()
                                     ? transport::operation_duration_bounds_s[i]
                                     : std::numeric_limits<double>::infinity();
            metric.histogram.bucket.push_back(bucket);
        }
        metric.histogram.sample_count = cumulative;
        metric.histogram.sample_sum = total.duration_sum_s;
        durations.add(std::move(metric));
    }
    to.push_back(operations.take());
    to.push_back(allocations.take());
    to.push_back(bytes.take());
    to.push_back(durations.take());
    to.push_back(gauge("tagferry_allocation_counting_enabled",
                       "1 when allocations are counted in this build.")
                     .add({}, transport::allocation_counting_enabled() ? 1 : 0)
                     .take());
}

void append_pools(families& to) {
    // Several pools of one name, one for each shard, are one series.
    std::map<std::string, transport::pool_statistics> by_name;
    transport::pinned_pool::for_each_statistics([&](const transport::pool_statistics& pool) {
        transport::pool_statistics& sum = by_name[std::string(pool.name)];
        sum.slot_size = pool.slot_size;
        sum.slot_count += pool.slot_count;
        sum.rents += pool.rents;
        sum.refusals += pool.refusals;
        sum.high_water += pool.high_water;
        sum.locked_bytes += pool.locked_bytes;
    });
    auto rents = counter("tagferry_pool_rents_total", "Buffers taken from each pool.");
    auto refusals =
        counter("tagferry_pool_refusals_total", "Times a pool had no buffer left: back-pressure.");
    auto high_water = gauge("tagferry_pool_high_water", "Most buffers out at once.");
    auto slots = gauge("tagferry_pool_slots", "Buffers of each pool.");
    auto locked = gauge("tagferry_pool_locked_bytes", "Bytes locked into memory; 0: not allowed.");
    for (const auto& [name, pool] : by_name) {
        const std::vector<label> labels = {{"pool", name}};
        rents.add(labels, pool.rents);
        refusals.add(labels, pool.refusals);
        high_water.add(labels, pool.high_water);
        slots.add(labels, pool.slot_count);
        locked.add(labels, pool.locked_bytes);
    }
    for (family* const each : {&rents, &refusals, &high_water, &slots, &locked}) {
        to.push_back(each->take());
    }
}

struct traffic_sum {
    std::uint64_t messages = 0;
    std::uint64_t writes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t reads = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t blocked_writes = 0;
    std::uint64_t open = 0;
    std::uint64_t connections = 0;
    std::uint64_t refused_in_all = 0;
    std::uint64_t refused_by_address = 0;
};

void append_transport(families& to) {
    std::map<std::string, traffic_sum> by_protocol;
    transport::for_each_traffic(
        [](const transport::traffic& traffic, void* context) {
            auto& sums = *static_cast<std::map<std::string, traffic_sum>*>(context);
            traffic_sum& sum = sums[std::string(traffic.protocol())];
            sum.messages += traffic.messages.value();
            sum.writes += traffic.writes.value();
            sum.sent_bytes += traffic.sent_bytes.value();
            sum.reads += traffic.reads.value();
            sum.received_bytes += traffic.received_bytes.value();
            sum.blocked_writes += traffic.blocked_writes.value();
            sum.open += traffic.connections_open.value();
            sum.connections += traffic.connections_total.value();
            sum.refused_in_all += traffic.refused_in_all.value();
            sum.refused_by_address += traffic.refused_by_address.value();
        },
        &by_protocol);
    auto messages = counter("tagferry_transport_messages_total", "Messages sent whole.");
    auto writes = counter("tagferry_transport_writes_total", "System calls that sent them.");
    auto sent = counter("tagferry_transport_sent_bytes_total", "Bytes sent.");
    auto reads = counter("tagferry_transport_reads_total", "Receives that brought bytes.");
    auto received = counter("tagferry_transport_received_bytes_total", "Bytes received.");
    auto blocked =
        counter("tagferry_transport_blocked_writes_total", "Writes that had to wait for the peer.");
    auto open = gauge("tagferry_transport_connections", "Connections open.");
    auto connections = counter("tagferry_transport_connections_total", "Connections opened.");
    auto refused =
        counter("tagferry_transport_refused_total", "Connections refused by admission limits.");
    for (const auto& [protocol, sum] : by_protocol) {
        const std::vector<label> labels = {{"protocol", protocol}};
        messages.add(labels, sum.messages);
        writes.add(labels, sum.writes);
        sent.add(labels, sum.sent_bytes);
        reads.add(labels, sum.reads);
        received.add(labels, sum.received_bytes);
        blocked.add(labels, sum.blocked_writes);
        open.add(labels, sum.open);
        connections.add(labels, sum.connections);
        refused.add(labels, sum.refused_in_all + sum.refused_by_address);
    }
    for (family* const each :
         {&messages, &writes, &sent, &reads, &received, &blocked, &open, &connections, &refused}) {
        to.push_back(each->take());
    }
}

void append_tags(families& to, const tag_table& table, const source_directory& sources) {
    auto tags = gauge("tagferry_tags", "Tags by the quality of their last sample.");
    for (const quality each : {quality::good, quality::uncertain, quality::bad}) {
        std::size_t count = 0;
        for (const source_place& place : sources.all()) {
            count += table.count(place.owner, each);
        }
        tags.add({{"quality", std::string(name_of(each))}}, count);
    }
    to.push_back(tags.take());
}

prometheus::ClientMetric histogram_of(const std::vector<label>& labels,
                                      const write_durations& seen) {
    prometheus::ClientMetric metric;
    metric.label = labels;
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < seen.buckets.size(); ++i) {
        cumulative += seen.buckets[i];
        metric.histogram.bucket.push_back(
            {cumulative, i < write_durations::bounds_s.size()
                             ? write_durations::bounds_s[i]
                             : std::numeric_limits<double>::infinity()});
    }
    metric.histogram.sample_count = cumulative;
    metric.histogram.sample_sum = seen.sum_s;
    return metric;
}

void append_connections(families& to, const source_directory& sources) {
    to.push_back(gauge("tagferry_connections", "Connections configured.")
                     .add({}, sources.all().size())
                     .take());
    auto up = gauge("tagferry_connection_up", "1 while the device is connected.");
    auto states = gauge("tagferry_connection_state", "1 for the state each connection is in.");
    auto connects = counter("tagferry_connection_connects_total", "Times it came up.");
    auto failures = counter("tagferry_connection_failures_total", "Attempts that failed.");
    auto requests = counter("tagferry_s7_requests_total", "Jobs sent.");
    auto request_failures =
        counter("tagferry_s7_request_failures_total", "Jobs without a usable answer, and why.");
    auto item_errors =
        counter("tagferry_s7_item_errors_total", "Items answered with an error code.");
    auto bytes = counter("tagferry_s7_bytes_read_total", "Bytes of values read.");
    auto written = counter("tagferry_s7_bytes_written_total", "Bytes of values the PLC accepted.");
    auto lag = gauge("tagferry_poll_lag_seconds",
                     "How long after its interval had passed the last scan was complete.");
    auto oldest = gauge("tagferry_tag_oldest_age_seconds",
                        "Time since the PLC last answered for the tag that waits longest.");
    family durations{prometheus::MetricType::Histogram, "tagferry_write_duration_seconds",
                     "From a write accepted for a connection to its outcome."};
    auto pdu = gauge("tagferry_s7_pdu_size_bytes", "Negotiated PDU; 0 while not connected.");
    auto window = gauge("tagferry_s7_window", "Jobs in flight granted; 0 while not connected.");
    auto scans = counter("tagferry_scans_total", "Scan cycles completed.");
    auto overruns =
        counter("tagferry_scan_overruns_total", "Scans skipped: the one before was not over.");
    auto writes = gauge("tagferry_pending_writes", "Writes accepted and not answered yet.");
    auto reads = gauge("tagferry_pending_device_reads", "Reads on request not answered yet.");
    for (const source_place& place : sources.all()) {
        const source_status status = place.source->status();
        const std::vector<label> labels = {{"connection", place.name}};
        up.add(labels, status.state == source_state::up ? 1 : 0);
        for (const source_state each : {source_state::stopped, source_state::connecting,
                                        source_state::up, source_state::waiting}) {
            states.add({{"connection", place.name}, {"state", std::string(name_of(each))}},
                       status.state == each ? 1 : 0);
        }
        connects.add(labels, status.connects);
        failures.add(labels, status.connect_failures);
        requests.add(labels, status.requests);
        for (std::size_t i = 0; i < request_failure_count; ++i) {
            const auto why = static_cast<request_failure>(i);
            request_failures.add(
                {{"connection", place.name}, {"reason", std::string(name_of(why))}},
                status.failures_by_reason[i]);
        }
        written.add(labels, status.bytes_written);
        lag.add(labels, std::chrono::duration<double>(status.lag).count());
        oldest.add(labels, std::chrono::duration<double>(status.oldest_age).count());
        durations.add(histogram_of(labels, status.writes));
        item_errors.add(labels, status.item_errors);
        bytes.add(labels, status.bytes_read);
        pdu.add(labels, status.pdu_size);
        window.add(labels, status.window);
        scans.add(labels, status.scans);
        overruns.add(labels, status.overruns);
        writes.add(labels, status.pending_writes);
        reads.add(labels, status.pending_device_reads);
    }
    for (family* const each :
         {&up, &states, &connects, &failures, &requests, &request_failures, &item_errors, &bytes,
          &written, &lag, &oldest, &durations, &pdu, &window, &scans, &overruns, &writes, &reads}) {
        to.push_back(each->take());
    }
}

void append_opcua_refusals(families& to, const opcua::server_statistics& seen) {
    // What the listener turned away was over twice the limit already.
    traffic_sum listener;
    transport::for_each_traffic(
        [](const transport::traffic& traffic, void* context) {
            auto& sum = *static_cast<traffic_sum*>(context);
            if (traffic.protocol() == "opcua") {
                sum.refused_in_all += traffic.refused_in_all.value();
                sum.refused_by_address += traffic.refused_by_address.value();
            }
        },
        &listener);
    to.push_back(
        counter("tagferry_opcua_rejected_connections_total",
                "OPC UA connections not let in, or ended to make room for a newer one.")
            .add({{"reason", "channel_limit"}}, seen.refused_by_channels + listener.refused_in_all)
            .add({{"reason", "address_limit"}},
                 seen.refused_by_address + listener.refused_by_address)
            .add({{"reason", "evicted"}}, seen.evicted)
            .take());
}

void append_opcua(families& to, const opcua::server& server) {
    const opcua::server_statistics seen = server.statistics();
    to.push_back(gauge("tagferry_opcua_sessions", "Sessions.").add({}, seen.sessions).take());
    to.push_back(gauge("tagferry_opcua_pending_operations", "Requests not answered yet.")
                     .add({}, seen.pending_operations)
                     .take());
    to.push_back(gauge("tagferry_opcua_continuation_points", "Unfinished Browse answers.")
                     .add({}, seen.continuation_points)
                     .take());
    to.push_back(gauge("tagferry_opcua_registered_nodes", "Nodes registered by sessions.")
                     .add({}, seen.registered_nodes)
                     .take());
    append_opcua_refusals(to, seen);
    to.push_back(
        gauge("tagferry_opcua_subscriptions", "Subscriptions.").add({}, seen.subscriptions).take());
    to.push_back(gauge("tagferry_opcua_monitored_items", "Monitored items.")
                     .add({}, seen.monitored_items)
                     .take());
    to.push_back(gauge("tagferry_opcua_publish_requests", "Publish requests held.")
                     .add({}, seen.publish_requests)
                     .take());
    to.push_back(gauge("tagferry_opcua_queue_bytes", "Memory in use by queues of monitored items.")
                     .add({}, seen.queue_bytes)
                     .take());
    to.push_back(gauge("tagferry_opcua_retransmission_bytes",
                       "Memory in use by messages kept until they are acknowledged.")
                     .add({}, seen.retransmission_bytes)
                     .take());
    to.push_back(counter("tagferry_opcua_notifications_total", "Values published to subscriptions.")
                     .add({}, seen.notifications)
                     .take());
    to.push_back(counter("tagferry_opcua_queue_overflows_total",
                         "Times that the queue of a monitored item discarded values.")
                     .add({}, seen.queue_overflows)
                     .take());
}

void append_writes(families& to, const web_writes& writes) {
    const web_write_counts seen = writes.counts();
    const std::uint64_t failures =
        seen.rejected + seen.refused + seen.not_sent + seen.unknown + seen.partial;
    to.push_back(counter("tagferry_writes_total", "Values written or refused, by door.")
                     .add({{"door", "rest"}}, seen.accepted + failures)
                     .take());
    to.push_back(counter("tagferry_write_failures_total", "Those that were not accepted, and why.")
                     .add({{"door", "rest"}, {"reason", "rejected"}}, seen.rejected)
                     .add({{"door", "rest"}, {"reason", "refused_by_device"}}, seen.refused)
                     .add({{"door", "rest"}, {"reason", "not_sent"}}, seen.not_sent)
                     .add({{"door", "rest"}, {"reason", "outcome_unknown"}}, seen.unknown)
                     .add({{"door", "rest"}, {"reason", "partly_written"}}, seen.partial)
                     .take());
}

void append_threads(families& to, const metrics_sources& from) {
    auto turns = counter("tagferry_shard_turns_total", "Turns of each shard.");
    auto wake_ups = counter("tagferry_shard_wake_ups_total", "Wake-ups from other threads.");
    auto refused = counter("tagferry_shard_tasks_refused_total", "Tasks its full mailbox refused.");
    auto faults = counter("tagferry_shard_faults_total", "Exceptions contained.");
    for (const transport::shard* const shard : from.shards) {
        const transport::shard_statistics seen = shard->statistics();
        const std::vector<label> labels = {{"shard", std::string(shard->name())}};
        turns.add(labels, seen.turns);
        wake_ups.add(labels, seen.wake_ups);
        refused.add(labels, seen.tasks_refused);
        faults.add(labels, seen.faults);
    }
    for (family* const each : {&turns, &wake_ups, &refused, &faults}) {
        to.push_back(each->take());
    }
    if (from.workers != nullptr) {
        const transport::worker_pool_statistics seen = from.workers->statistics();
        to.push_back(counter("tagferry_worker_jobs_total", "Jobs of the worker pool, by ending.")
                         .add({{"ending", "run"}}, seen.run)
                         .add({{"ending", "refused"}}, seen.refused)
                         .add({{"ending", "cancelled"}}, seen.cancelled)
                         .take());
    }
    std::uint64_t lost = 0;
    for (const tag_feed* const feed : from.feeds) {
        lost += feed->lost_samples();
    }
    to.push_back(counter("tagferry_feed_lost_samples_total",
                         "Samples that found a queue full; their items set Overflow.")
                     .add({}, lost)
                     .take());
}

void append_log(families& to, const log::logger& logger) {
    const log::log_statistics seen = logger.statistics();
    auto lines = counter("tagferry_log_lines_total", "Log lines, by level.");
    constexpr std::array<const char*, 4> levels = {"debug", "info", "warning", "error"};
    for (std::size_t i = 0; i < levels.size(); ++i) {
        lines.add({{"level", levels[i]}}, seen.lines[i]);
    }
    to.push_back(lines.take());
    to.push_back(counter("tagferry_log_dropped_total", "Log lines lost because of too many.")
                     .add({}, seen.dropped)
                     .take());
    to.push_back(counter("tagferry_log_dropped_writes_total", "Of these, lines about a write.")
                     .add({}, seen.dropped_writes)
                     .take());
    to.push_back(counter("tagferry_log_held_back_total", "Repeats that were not written.")
                     .add({}, seen.held_back)
                     .take());
}

void append_reloads(families& to, const reload_record& seen) {
    to.push_back(gauge("tagferry_config_last_reload_successful",
                       "1 unless the last reload of the configuration failed.")
                     .add({}, seen.last_successful.load() ? 1 : 0)
                     .take());
    to.push_back(gauge("tagferry_config_revision",
                       "Configurations taken over in this run; 1 is that of the start.")
                     .add({}, seen.revision.load())
                     .take());
    to.push_back(gauge("tagferry_config_last_reload_success_timestamp_seconds",
                       "When a configuration was last taken over.")
                     .add({}, static_cast<double>(seen.last_success_at.load()) / 1e9)
                     .take());
}

}  // namespace

std::vector<prometheus::MetricFamily> metrics::Collect() const {
    families all;
    all.push_back(gauge("tagferry_build_info", "The version that runs.")
                      .add({{"version", std::string(from_.version)}}, 1)
                      .take());
    append_operations(all);
    append_pools(all);
    append_transport(all);
    if (from_.table != nullptr && from_.sources != nullptr) {
        append_tags(all, *from_.table, *from_.sources);
    }
    if (from_.sources != nullptr) {
        append_connections(all, *from_.sources);
    }
    if (from_.opcua != nullptr) {
        append_opcua(all, *from_.opcua);
    }
    if (from_.writes != nullptr) {
        append_writes(all, *from_.writes);
    }
    append_threads(all, from_);
    if (from_.logger != nullptr) {
        append_log(all, *from_.logger);
    }
    if (from_.reloads != nullptr) {
        append_reloads(all, *from_.reloads);
    }
    append_process_metrics(all);
    return all;
}

}  // namespace tagferry::gateway
