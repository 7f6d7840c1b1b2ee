#include "web/server.hpp"

#include "transport/memory/pinned_pool.hpp"
#include "web/api/browse.hpp"
#include "web/api/connections.hpp"
#include "web/api/health.hpp"
#include "web/api/openapi.hpp"
#include "web/api/router.hpp"
#include "web/api/status.hpp"
#include "web/api/tags.hpp"
#include "web/api/values.hpp"
#include "web/api/write_values.hpp"
#include "web/http/connection_engine.hpp"
#include "web/http/operations.hpp"
#include "web/live/stream_hub.hpp"
#include "web/live/stream_resource.hpp"
#include "web/metrics/metrics_page.hpp"

#include <array>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tagferry::web {
namespace {

constexpr std::size_t staging_size = 8 * 1024;

const http_limits& checked(const http_limits& limits) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) {
            throw std::invalid_argument(what);
        }
    };
    require(limits.head_size >= 512 && limits.head_size <= staging_size,
            "a request head is 512 bytes to 8 KiB");
    require(limits.target_size < limits.head_size, "a request target is smaller than its head");
    require(limits.chunk_line_size < staging_size, "a chunk line is below 8 KiB");
    require(limits.output_slot_size >= 4 * 1024, "an output slot is at least 4 KiB");
    require(limits.connection_output_slots <= max_connection_output_slots,
            "a connection holds at most 64 output slots");
    require(limits.output_high_water_slots >= 1 &&
                limits.output_high_water_slots < limits.connection_output_slots,
            "the high water is below what a connection may hold");
    require(limits.output_slots >= limits.connection_output_slots,
            "there are as many output slots as one connection may hold");
    require(limits.request_slots >= 1 && limits.scrapes >= 1 && limits.requests_per_turn >= 1,
            "requests, scrapes and slots are at least 1");
    require(limits.list_limit_default >= 1 && limits.list_limit_default <= limits.list_limit_max,
            "the default list limit is 1 to the largest");
    require(limits.stream_high_water_slots >= 1 &&
                limits.stream_high_water_slots < limits.connection_output_slots,
            "the stream's high water is below what a connection may hold");
    require(limits.stream_sockets >= 1 && limits.stream_message_size >= 256,
            "there is a stream, and its messages are at least 256 bytes");
    require(limits.tags_per_request <= values::max_refresh_tags,
            "a request names at most 128 tags");
    return limits;
}

bool is_loopback(const transport::address& peer) noexcept {
    if (!peer.is_v6) {
        return peer.bytes[0] == 127;
    }
    constexpr std::array<std::uint8_t, 16> loopback = {0, 0, 0, 0, 0, 0, 0, 0,
                                                       0, 0, 0, 0, 0, 0, 0, 1};
    return peer.bytes == loopback;
}

}  // namespace

struct server::parts {
    parts(const server_options& options, const backend& above, const transport::clock& clock)
        : limits(checked(options.limits)),
          scratch(2 * above.values.largest_value_size()),
          output_pool({"http_response", limits.output_slot_size, limits.output_slots}),
          request_pool({"http_request",
                        limits.head_size + limits.body_size + exchange::retained_extra_size,
                        limits.request_slots}),
          later(above.execution),
          hub(limits, above.feed, above.values, above.execution, later, clock, scratch),
          stream(hub),
          value(above.values, scratch),
          values(above.values, scratch),
          tag(above.values),
          tags(above.values),
          tree(above.browse, above.values),
          connection(above.connections),
          connections(above.connections),
          writer(above.values, above.writes),
          write_value(writer),
          write_values(writer),
          health(above.identity),
          readiness(above.identity),
          version(above.identity),
          status(above.identity, above.overview),
          sources(above.metrics.begin(), above.metrics.end()),
          metrics(above.execution, sources, limits.scrapes),
          files(options.assets.begin(), options.assets.end()),
          routes(table(options.assets)),
          counters(routes.handlers()),
          host_names(options.host_names),
          shared{
              limits, clock,          routes,         output_pool, request_pool,          counters,
              later,  above.identity, above.requests, host_names,  options.anonymous_role} {
        sources.push_back(&counters);
        sources.push_back(&hub.counters());
    }

    std::vector<route_entry> table(std::span<const asset> assets) {
        std::vector<route_entry> entries = {
            {.path = "/api/v1/values/{path}",
             .resource = &value,
             .kind = http_value,
             .counts_as_operation = true},
            {.path = "/api/v1/values/{path}",
             .method = http_method::put,
             .resource = &write_value,
             .needs = role::operator_},
            {.path = "/api/v1/values", .resource = &values},
            {.path = "/api/v1/values:write",
             .method = http_method::post,
             .resource = &write_values,
             .needs = role::operator_},
            {.path = "/api/v1/openapi.json", .resource = &openapi, .needs = role::none},
            {.path = "/api/v1/tags/{path}", .resource = &tag},
            {.path = "/api/v1/tags", .resource = &tags},
            {.path = "/api/v1/browse/{path}", .resource = &tree},
            {.path = "/api/v1/browse", .resource = &tree},
            {.path = "/api/v1/connections/{name}", .resource = &connection},
            {.path = "/api/v1/connections", .resource = &connections},
            {.path = "/api/v1/stream", .resource = &stream},
            {.path = "/api/v1/version", .resource = &version},
            {.path = "/api/v1/status", .resource = &status},
            {.path = "/healthz", .resource = &health, .needs = role::none, .any_host = true},
            {.path = "/readyz", .resource = &readiness, .needs = role::none, .any_host = true},
            {.path = "/metrics", .resource = &metrics},
        };
        for (std::size_t i = 0; i < assets.size(); ++i) {
            entries.push_back(
                {.path = assets[i].path, .label = "/", .resource = &files[i], .needs = role::none});
        }
        return entries;
    }

    http_limits limits;
    std::vector<std::byte> scratch;
    transport::pinned_pool output_pool;
    transport::pinned_pool request_pool;
    later_queue later;
    stream_hub hub;
    stream_resource stream;
    value_resource value;
    values_resource values;
    tag_resource tag;
    tags_resource tags;
    browse_resource tree;
    connection_resource connection;
    connections_resource connections;
    value_writer writer;
    write_value_resource write_value;
    write_values_resource write_values;
    health_resource health;
    readiness_resource readiness;
    version_resource version;
    status_resource status;
    std::vector<const prometheus::Collectable*> sources;
    metrics_page metrics;
    asset_resource openapi{openapi_document()};
    std::deque<asset_resource> files;
    router routes;
    request_counters counters;
    std::vector<std::string> host_names;
    connection_shared shared;
};

server::server(const server_options& options, const backend& above, const transport::clock& clock)
    : parts_(std::make_unique<parts>(options, above, clock)) {}

server::~server() = default;

void server::close_streams() {
    const transport::operation_scope charged(transport::kind_control);
    parts_->hub.shut_down();
}

std::unique_ptr<transport::engine> server::make_engine(const transport::peer_info& peer) {
    return make_engine(transport::to_text(peer.peer), is_loopback(peer.peer)
                                                          ? channel_security::loopback
                                                          : channel_security::plain);
}

std::unique_ptr<transport::engine> server::make_engine(std::string_view peer,
                                                       channel_security security) {
    const transport::operation_scope charged(transport::kind_control);
    return std::make_unique<connection_engine>(parts_->shared, peer, security);
}

const prometheus::Collectable& server::request_metrics() const noexcept {
    return parts_->counters;
}

}  // namespace tagferry::web
