#include "gateway/app/parts.hpp"

#include "gateway/app/limits.hpp"
#include "gateway/model/version.hpp"
#include "gateway/sources/s7/s7_types.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace tagferry::gateway {
namespace {

/// OPC UA chunks over the staging buffer that may be on their way in at the same time.
constexpr std::size_t large_frame_slots = 32;

/// An exception that reached a shard. The hook gets it on the shard's thread.
void report_fault(void* context, std::string_view shard, std::string_view where,
                  std::string_view what) noexcept {
    static_cast<log::logger*>(context)->write(
        log::event::shard_fault, {{"shard", shard}, {"where", where}, {"reason", what}});
}

/// A look-up of a name that nobody answers takes seconds, and must hold up neither the links of
/// other names nor the metrics page: each link with a name has a thread for it, at most
/// `limits.connections` of them. They sleep but for the look-ups.
std::size_t lookups_at_once(const std::vector<config::connection>& links) {
    const auto named = std::count_if(links.begin(), links.end(), [](const auto& link) {
        return !transport::parse_host(link.host, link.port);
    });
    return std::max<std::size_t>(static_cast<std::size_t>(named), 1);
}

std::vector<const transport::shard*> shards_of(const std::deque<shard_parts>& all) {
    std::vector<const transport::shard*> shards;
    for (const shard_parts& each : all) {
        shards.push_back(each.shard.get());
    }
    return shards;
}

}  // namespace

gateway::parts::parts(config::configuration with, log::logger& to, const transport::clock& time)
    : settings(std::move(with)),
      logger(to),
      clock(time),
      started_at(time.wall_now()),
      table(table_limits_of(settings.limits)),
      reporter(to, directory, time),
      workers({"worker",
               settings.limits.worker_threads,
               settings.limits.worker_jobs,
               10,
               {&report_fault, &to}}),
      resolver({"resolver",
                lookups_at_once(settings.connections),
                std::max<std::size_t>(settings.connections.size(), 1),
                10,
                {&report_fault, &to}}) {
    make_shards();
    opcua_feed_limits feed_limits;
    feed_limits.queued_tags = settings.limits.tags;
    feed_limits.ring_bytes = settings.limits.sample_ring_bytes;
    opcua_feed_part = std::make_unique<opcua_feed>(*shards.front().shard, *this, table,
                                                   shards.size(), feed_limits);
    web_feed_part = std::make_unique<web_feed>(*shards.front().shard, table, shards.size());
    make_sources();
    make_front_ends();
    open_listeners();
}

gateway::parts::~parts() {
    stop();
    // What is destroyed from here on may still have turns, in which nothing must be taken over.
    for (shard_parts& each : shards) {
        each.models.reset();
    }
}

void gateway::parts::make_shards() {
    for (std::size_t i = 0; i < std::max<std::size_t>(settings.shards, 1); ++i) {
        shard_parts& made = shards.emplace_back();
        made.name = "shard" + std::to_string(i);
        transport::shard_options options_of;
        options_of.name = made.name;
        options_of.index = i;
        options_of.mailbox_capacity = settings.limits.mailbox_entries;
        options_of.on_fault = {&report_fault, &logger};
        made.shard = std::make_unique<transport::shard>(options_of, clock);
        made.s7_traffic = std::make_unique<transport::traffic>("s7");
        made.whole = this;
    }
}

std::unique_ptr<const tag_model> gateway::parts::build_model(const config::configuration& from) {
    std::vector<model_error> errors;
    auto model = builder.build(from, &read_s7_type, errors);
    for (const model_error& error : errors) {
        logger.write(log::event::config_warning, {{"path", error.path}, {"text", error.text}});
    }
    return model;
}

/// Links are spread over the shards behind the first, or live on the first when it is alone.
void gateway::parts::make_sources() {
    auto model = build_model(settings);
    for (config::connection& each : settings.connections) {
        std::vector<config::tag>().swap(each.tags);
    }
    const std::size_t link_shards = std::max<std::size_t>(shards.size() - 1, 1);
    const std::size_t first_link_shard = shards.size() > 1 ? 1 : 0;
    std::vector<std::size_t> slots(shards.size());
    std::vector<std::size_t> slot_size(shards.size());
    std::vector<s7_source_options> wanted;
    for (std::size_t i = 0; i < model->connections().size(); ++i) {
        const std::size_t where = first_link_shard + i % link_shards;
        wanted.push_back(s7_options_of(model->connections()[i].settings, settings.limits,
                                       *shards[where].s7_traffic));
        wanted.back().observer = &reporter;
        slots[where] += s7_pool_slots(wanted.back().client);
        slot_size[where] =
            std::max(slot_size[where], wanted.back().client.pdu_size + s7::envelope_size);
        shards[where].links.push_back(i);
    }
    for (std::size_t where = 0; where < shards.size(); ++where) {
        if (slots[where] != 0) {
            shards[where].s7_pool = std::make_unique<transport::pinned_pool>(
                transport::pinned_pool_options{"s7", slot_size[where], slots[where]});
        }
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const connection_definition& connection = model->connections()[i];
        shard_parts& where = shards[first_link_shard + i % link_shards];
        sources.push_back(std::make_unique<s7_source>(*where.shard, resolver, *where.s7_pool, table,
                                                      connection.owner, wanted[i]));
        directory.add({sources.back().get(), where.shard.get(), connection.owner,
                       connection.settings.name,
                       connection.settings.host + ":" + std::to_string(connection.settings.port)});
    }
    reporter.expect(sources.size());
    for (shard_parts& each : shards) {
        each.models = std::make_unique<transport::snapshot_reader<tag_model>>(
            models, *each.shard, &parts::model_changed, &each);
    }
    first_model = std::move(model);
}

/// On each shard, at the beginning of the turn in which it takes over a model: the first one
/// starts its links.
void gateway::parts::model_changed(void* object, const tag_model* before,
                                   const tag_model& now) noexcept {
    auto& on = *static_cast<shard_parts*>(object);
    if (&on == &on.whole->shards.front()) {
        on.whole->web_feed_part->model_changed(now);
    }
    for (const std::size_t link : on.links) {
        const source_place& place = on.whole->directory.all()[link];
        for (const connection_definition& connection : now.connections()) {
            if (connection.owner == place.owner) {
                place.source->apply(now, connection);
            }
        }
        if (before == nullptr) {
            place.source->start();
        }
    }
}

void gateway::parts::make_front_ends() {
    transport::shard& shard = *shards.front().shard;
    // What connections there are is decided at the start, so no request meets more of them.
    const std::size_t links = std::max<std::size_t>(directory.all().size(), 1);
    device_read_limits opcua_limits;
    opcua_limits.connections_per_request = links;
    opcua_reads = std::make_unique<device_read_hub>(shard, *this, directory,
                                                    opcua_device_read_codes(), opcua_limits);
    device_read_limits web_limits;
    web_limits.connections_per_request =
        std::min<std::size_t>(links, web::values::max_refresh_tags);
    web_limits.requests = 64;
    web_limits.tags_per_request = web::values::max_refresh_tags;
    web_reads = std::make_unique<device_read_hub>(shard, *this, directory, web_device_read_codes(),
                                                  web_limits);
    make_opcua();
    make_web();
}

void gateway::parts::make_opcua() {
    transport::shard& shard = *shards.front().shard;
    opcua_values_part = std::make_unique<opcua_values>(*this, table, *opcua_reads);
    opcua_tree_part = std::make_unique<opcua_tree>(*this);
    opcua_write_limits write_limits;
    write_limits.requests = settings.opcua.limits.max_pending_writes;
    write_limits.items_per_request = settings.opcua.limits.max_nodes_per_write;
    write_limits.connections_per_request = std::max<std::size_t>(directory.all().size(), 1);
    opcua_writes_part = std::make_unique<opcua_writes>(shard, *this, directory, write_limits);
    opcua_identity_part =
        std::make_unique<opcua_identity>(settings.opcua, version(), started_at, directory);
    opcua_events_part = std::make_unique<opcua_events>(logger);
    opcua_schedule_part = std::make_unique<opcua_schedule>(shard);
    const opcua::backend above{*opcua_values_part, *opcua_tree_part,     *opcua_writes_part,
                               *opcua_feed_part,   *opcua_identity_part, *opcua_identity_part,
                               *opcua_events_part, *opcua_schedule_part};
    opcua_server = std::make_unique<opcua::server>(above, settings.opcua.limits, clock);
    deadlines = std::make_unique<opcua_deadlines>(*opcua_server);
    shard.add(*deadlines);
    factory = std::make_unique<opcua_factory>(*opcua_server);
    large_frames = std::make_unique<transport::pinned_pool>(transport::pinned_pool_options{
        "opcua_large_frame", settings.opcua.limits.chunk_size, large_frame_slots});
}

void gateway::parts::make_web() {
    transport::shard& shard = *shards.front().shard;
    web_values_part = std::make_unique<web_values>(*this, table, *web_reads, clock);
    web_browse_part = std::make_unique<web_browse>(*this);
    web_connections_part = std::make_unique<web_connections>(directory, table);
    web_execution_part =
        std::make_unique<web_execution>(shard, workers, settings.web.limits.connections);
    web_identity_part = std::make_unique<web_identity>(version(), started_at, shards_of(shards),
                                                       settings.web.tokens);
    web_overview_part = std::make_unique<web_overview>(directory, table, *this, *opcua_server,
                                                       endpoints.opcua, clock);
    web_writes_part =
        std::make_unique<web_writes>(shard, *this, directory, logger, web_write_limits{});
    web_request_log_part = std::make_unique<web_request_log>(logger);
    metrics_sources counted;
    counted.writes = web_writes_part.get();
    counted.table = &table;
    counted.sources = &directory;
    counted.shards = shards_of(shards);
    counted.workers = &workers;
    counted.feeds = {&opcua_feed_part->feed(), &web_feed_part->feed()};
    counted.logger = &logger;
    counted.opcua = opcua_server.get();
    counted.version = version();
    counted.reloads = &reloads;
    metrics_part = std::make_unique<metrics>(std::move(counted));
    collectables = {metrics_part.get()};
    const web::backend above{*web_values_part,   *web_browse_part,   *web_connections_part,
                             *web_identity_part, *web_overview_part, *web_execution_part,
                             *web_feed_part,     *web_writes_part,   *web_request_log_part,
                             collectables};
    web::server_options made;
    made.limits = settings.web.limits;
    made.host_names = settings.web.host_names;
    made.assets = web::page_assets();
    web_server = std::make_unique<web::server>(made, above, clock);
}

void gateway::parts::open_listeners() {
    transport::shard& shard = *shards.front().shard;
    const opcua::limits& opcua_limits = settings.opcua.limits;
    // Over its limits the server makes room or says that it cannot; at twice that, while such
    // connections are ending, nobody is let in.
    auto opcua =
        listener_options_of(settings.opcua.listen, std::size_t{2} * opcua_limits.max_channels,
                            std::size_t{2} * opcua_limits.max_channels_per_address);
    opcua.observer = &reporter;
    opcua.connection.counters = &opcua_traffic;
    opcua.connection.large_frames = large_frames.get();
    // The engine ends a slow peer with an Error message, before the driver would cut it off.
    opcua.connection.frame_timeout = 2 * std::chrono::milliseconds(opcua_limits.frame_timeout_ms);
    opcua_listener = std::make_unique<transport::listener>(shard, opcua, *factory);
    auto http = listener_options_of(settings.web.listen, settings.web.limits.connections,
                                    settings.web.limits.connections_per_address);
    http.observer = &reporter;
    http.connection.counters = &http_traffic;
    // The engine answers a slow peer with 408 itself, before the driver would cut it off.
    using std::chrono::milliseconds;
    const web::http_limits& web_limits = settings.web.limits;
    http.connection.frame_timeout =
        milliseconds(web_limits.head_timeout_ms) + milliseconds(web_limits.body_timeout_ms);
    http.connection.write_timeout = 2 * milliseconds(web_limits.send_timeout_ms);
    http_listener = std::make_unique<transport::listener>(shard, http, *web_server);
    for (const transport::address& each : opcua_listener->bound()) {
        endpoints.opcua.push_back("opc.tcp://" + transport::to_text(each));
    }
    for (const transport::address& each : http_listener->bound()) {
        endpoints.http.push_back("http://" + transport::to_text(each));
    }
    opcua_identity_part->set_endpoint_urls(endpoints.opcua);
}

}  // namespace tagferry::gateway
