// The gateway's parts, in the order they are made: each may hold references to those above it,
// and is destroyed before them.
#pragma once

#include "gateway/app/gateway.hpp"
#include "gateway/expose/device_read_hub.hpp"
#include "gateway/expose/opcua/events.hpp"
#include "gateway/expose/opcua/feed.hpp"
#include "gateway/expose/opcua/identity.hpp"
#include "gateway/expose/opcua/schedule.hpp"
#include "gateway/expose/opcua/tree.hpp"
#include "gateway/expose/opcua/values.hpp"
#include "gateway/expose/opcua/writes.hpp"
#include "gateway/expose/source_directory.hpp"
#include "gateway/expose/web/browse.hpp"
#include "gateway/expose/web/connections.hpp"
#include "gateway/expose/web/execution.hpp"
#include "gateway/expose/web/feed.hpp"
#include "gateway/expose/web/identity.hpp"
#include "gateway/expose/web/overview.hpp"
#include "gateway/expose/web/request_log.hpp"
#include "gateway/expose/web/values.hpp"
#include "gateway/expose/web/writes.hpp"
#include "gateway/health/metrics.hpp"
#include "gateway/health/reload_record.hpp"
#include "gateway/log/thinned_repeats.hpp"
#include "gateway/sources/s7/s7_source.hpp"
#include "gateway/tags/tag_model.hpp"
#include "protocols/opcua/server/server.hpp"
#include "transport/net/listener.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/snapshot.hpp"
#include "transport/threads/worker_pool.hpp"
#include "web/server.hpp"
#include "web/ui/page.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tagferry::gateway {

/// Connections of the OPC UA listener get their engine from the server.
class opcua_factory final : public transport::engine_factory {
  public:
    explicit opcua_factory(opcua::server& server) noexcept : server_(server) {}
    std::unique_ptr<transport::engine> make_engine(const transport::peer_info& peer) override {
        return server_.make_connection(transport::to_text(peer.peer));
    }

  private:
    opcua::server& server_;
};

/// The server's own deadlines in the sweep of its shard.
class opcua_deadlines final : public transport::sweep_participant {
  public:
    explicit opcua_deadlines(opcua::server& server) noexcept : server_(server) {}
    transport::time_point deadline() const noexcept override { return server_.deadline(); }
    void expire(transport::time_point now) override { server_.expire(now); }

  private:
    opcua::server& server_;
};

/// A shard and what every shard has.
struct shard_parts {
    std::string name;
    std::unique_ptr<transport::shard> shard;
    std::unique_ptr<transport::traffic> s7_traffic;
    std::unique_ptr<transport::pinned_pool> s7_pool;  ///< null without links
    std::vector<std::size_t> links;                   ///< into `gateway::parts::sources`
    std::unique_ptr<transport::snapshot_reader<tag_model>> models;
    gateway::parts* whole = nullptr;
};

/// Log lines about links and listeners, from their shards. What repeats without a change is
/// written at growing intervals, with a count.
class event_reporter final : public source_observer, public transport::listener_observer {
  public:
    event_reporter(log::logger& logger, const source_directory& sources,
                   const transport::clock& clock) noexcept
        : logger_(logger), sources_(sources), clock_(clock) {}
    /// Once all sources are in the directory, before any runs.
    void expect(std::size_t sources);

    void source_changed(const source& which, source_state before) override;
    void source_event_happened(const source& which, const source_event& what) override;
    void happened(transport::listener_event event, const transport::address& peer,
                  std::error_code error, std::uint64_t count) override;

  private:
    /// Of one source, on its shard.
    struct repeats {
        log::thinned_repeats connect_failures;
        std::string_view connect_reason;
        log::thinned_repeats timeouts;
        log::thinned_repeats refusals;
        log::thinned_repeats unusable;
        log::thinned_repeats late_scans;
    };
    void connect_failed(const source_place& place, const source_status& status, repeats& seen);

    log::logger& logger_;
    const source_directory& sources_;
    const transport::clock& clock_;
    std::vector<repeats> repeats_;
};

struct gateway::parts final : model_access {
    parts(config::configuration with, log::logger& to, const transport::clock& time);
    ~parts();

    /// The model of the front ends' shard, in its turns.
    const tag_model& model() const noexcept override { return *shards.front().models->get(); }

    std::unique_ptr<const tag_model> build_model(const config::configuration& from);
    void make_shards();
    void make_sources();
    void make_front_ends();
    void make_opcua();
    void make_web();
    void open_listeners();
    static void model_changed(void* object, const tag_model* before, const tag_model& now) noexcept;
    void start();
    void apply(config::configuration next);
    void stop();
    void begin_stop(shard_parts& on);
    bool is_quiet(const shard_parts& on) const;

    config::configuration settings;  ///< what it was made with
    log::logger& logger;
    const transport::clock& clock;
    transport::wall_time_ns started_at;

    tag_table table;
    model_builder builder{table};
    source_directory directory;
    event_reporter reporter;
    transport::snapshot_hub<tag_model> models;
    std::unique_ptr<const tag_model> first_model;  ///< until `start` publishes it
    std::deque<shard_parts> shards;
    transport::worker_pool workers;
    transport::worker_pool resolver;  ///< looks the names of PLCs up
    std::vector<std::unique_ptr<source>> sources;

    // On shard 0.
    transport::traffic opcua_traffic{"opcua"};
    transport::traffic http_traffic{"http"};
    std::unique_ptr<transport::pinned_pool> large_frames;
    std::unique_ptr<device_read_hub> opcua_reads;
    std::unique_ptr<device_read_hub> web_reads;
    std::unique_ptr<opcua_values> opcua_values_part;
    std::unique_ptr<opcua_tree> opcua_tree_part;
    std::unique_ptr<opcua_writes> opcua_writes_part;
    std::unique_ptr<opcua_feed> opcua_feed_part;
    std::unique_ptr<opcua_identity> opcua_identity_part;
    std::unique_ptr<opcua_events> opcua_events_part;
    std::unique_ptr<opcua_schedule> opcua_schedule_part;
    std::unique_ptr<opcua::server> opcua_server;
    std::unique_ptr<opcua_deadlines> deadlines;
    std::unique_ptr<opcua_factory> factory;
    std::unique_ptr<web_values> web_values_part;
    std::unique_ptr<web_browse> web_browse_part;
    std::unique_ptr<web_connections> web_connections_part;
    std::unique_ptr<web_execution> web_execution_part;
    std::unique_ptr<web_feed> web_feed_part;
    std::unique_ptr<web_writes> web_writes_part;
    std::unique_ptr<web_request_log> web_request_log_part;
    std::unique_ptr<web_identity> web_identity_part;
    std::unique_ptr<web_overview> web_overview_part;
    std::unique_ptr<metrics> metrics_part;
    std::vector<const prometheus::Collectable*> collectables;
    std::unique_ptr<web::server> web_server;
    std::unique_ptr<transport::listener> opcua_listener;
    std::unique_ptr<transport::listener> http_listener;

    reload_record reloads;

    gateway_endpoints endpoints;
    bool running = false;
    bool stopped = false;
};

}  // namespace tagferry::gateway
