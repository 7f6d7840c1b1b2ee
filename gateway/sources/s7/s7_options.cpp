// From a connection's settings to what its source is made with.
#include "gateway/sources/s7/s7_source.hpp"

#include <chrono>

namespace tagferry::gateway {

s7_source_options s7_options_of(const config::connection& settings,
                                const config::process_limits& limits,
                                transport::traffic& counters) {
    using std::chrono::milliseconds;
    s7_source_options options;
    options.client.local_tsap = settings.local_tsap;
    options.client.remote_tsap = settings.remote_tsap;
    if (settings.remote_tsap == 0) {
        const auto kind = settings.connection_type == config::connection_type::pg   ? 1
                          : settings.connection_type == config::connection_type::op ? 2
                                                                                    : 3;
        options.client.remote_tsap =
            s7::tsap_of(static_cast<std::uint8_t>(kind), settings.rack, settings.slot);
    }
    options.client.pdu_size = settings.pdu_size;
    options.client.max_jobs = settings.max_jobs;
    options.client.queued_jobs = jobs_ahead + limits.pending_writes_per_connection;
    options.pending_writes = limits.pending_writes_per_connection;
    options.pending_device_reads = limits.pending_device_reads_per_connection;
    options.client.handshake_timeout = milliseconds(settings.connect_timeout_ms);
    options.client.job_timeout = milliseconds(settings.job_timeout_ms);
    options.link.host = settings.host;
    options.link.port = settings.port;
    options.link.connect_timeout = milliseconds(settings.connect_timeout_ms);
    options.link.back_off_first = milliseconds(settings.back_off_ms.min_ms);
    options.link.back_off_max = milliseconds(settings.back_off_ms.max_ms);
    options.link.connection.counters = &counters;
    options.keep_value_on_link_loss = settings.on_link_loss == config::link_loss::uncertain;
    return options;
}

std::size_t s7_pool_slots(const s7::client_options& options) noexcept {
    return options.max_jobs + options.queued_jobs + 1;
}

}  // namespace tagferry::gateway
