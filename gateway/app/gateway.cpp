#include "gateway/app/gateway.hpp"

#include "gateway/app/parts.hpp"
#include "gateway/app/restart_needed.hpp"
#include "gateway/app/shard_call.hpp"
#include "transport/memory/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace tagferry::gateway {
namespace {

/// How long clients and links may take to close before the threads are ended anyway.
constexpr transport::duration longest_goodbye = std::chrono::seconds(3);

}  // namespace

gateway::gateway(config::configuration settings, log::logger& logger, const transport::clock& clock)
    : parts_(std::make_unique<parts>(std::move(settings), logger, clock)) {}

gateway::~gateway() = default;

const gateway_endpoints& gateway::endpoints() const noexcept {
    return parts_->endpoints;
}

void gateway::start() {
    parts_->start();
}

void gateway::apply(config::configuration next) {
    parts_->apply(std::move(next));
}

void gateway::reload_failed() noexcept {
    parts_->reloads.last_successful = false;
}

void gateway::stop() {
    parts_->stop();
}

void gateway::parts::start() {
    reloads.last_success_at = clock.wall_now();
    ++reloads.revision;
    models.publish(std::move(first_model));
    opcua_listener->start();
    http_listener->start();
    workers.start();
    resolver.start();
    for (shard_parts& each : shards) {
        each.shard->start();
    }
    running = true;
    web_identity_part->set_ready(true);
    std::size_t unlocked = 0;
    transport::pinned_pool::for_each_statistics([&](const transport::pool_statistics& pool) {
        unlocked += pool.locked_bytes == 0 ? 1U : 0U;
    });
    if (unlocked != 0) {
        logger.write(log::event::pool_unlocked, {{"pools", unlocked}});
    }
    for (const std::string& each : endpoints.opcua) {
        logger.write(log::event::listener_opened, {{"endpoint", each}});
    }
    for (const std::string& each : endpoints.http) {
        logger.write(log::event::listener_opened, {{"endpoint", each}});
    }
}

void gateway::parts::apply(config::configuration next) {
    const transport::operation_scope scope(transport::kind_control);
    if (!running || stopped) {
        throw std::logic_error("the gateway does not run");
    }
    const std::vector<std::string> refused = restart_needed_for(settings, next);
    if (!refused.empty()) {
        throw std::invalid_argument(
            fmt::format("only tags and scan classes can change without a restart; this differs: {}",
                        fmt::join(refused, ", ")));
    }
    models.publish(build_model(next));
    // A shard that hangs is the watchdog's business.
    while (!models.wait_until_taken_over(longest_goodbye)) {
    }
    builder.remove_unused();
    models.collect();
    reloads.last_success_at = clock.wall_now();
    ++reloads.revision;
    reloads.last_successful = true;
    transport::give_back_free_heap();
}

/// On its shard.
void gateway::parts::begin_stop(shard_parts& on) {
    if (&on == &shards.front()) {
        web_server->close_streams();
        opcua_listener->stop();
        http_listener->stop();
    }
    for (const std::size_t link : on.links) {
        sources[link]->stop();
    }
}

/// On its shard.
bool gateway::parts::is_quiet(const shard_parts& on) const {
    bool quiet = &on != &shards.front() || (opcua_listener->idle() && http_listener->idle());
    for (const std::size_t link : on.links) {
        quiet = quiet && sources[link]->stopped();
    }
    return quiet;
}

void gateway::parts::stop() {
    if (stopped) {
        return;
    }
    stopped = true;
    web_identity_part->set_ready(false);
    if (running) {
        for (shard_parts& each : shards) {
            run_on(*each.shard, [&] { begin_stop(each); });
        }
        const auto end = clock.now() + longest_goodbye;
        for (shard_parts& each : shards) {
            wait_on(*each.shard, end, [&] { return is_quiet(each); });
        }
    }
    // Before the shards, so that every completion finds its owner.
    workers.stop();
    resolver.stop();
    for (shard_parts& each : shards) {
        each.shard->stop();
    }
    for (shard_parts& each : shards) {
        each.shard->join();
    }
}

void gateway::see_every_shard_turn() {
    for (const shard_parts& each : parts_->shards) {
        run_on(*each.shard, [] {});
    }
}

gateway::status_line gateway::status() const noexcept {
    const auto places = parts_->directory.all();
    std::size_t up = 0;
    std::size_t good = 0;
    std::size_t uncertain = 0;
    std::size_t bad = 0;
    for (const source_place& each : places) {
        up += each.source->status().state == source_state::up ? 1U : 0U;
        good += parts_->table.count(each.owner, quality::good);
        uncertain += parts_->table.count(each.owner, quality::uncertain);
        bad += parts_->table.count(each.owner, quality::bad);
    }
    status_line line;
    const auto end = fmt::format_to_n(line.text.data(), line.text.size(),
                                      "{}/{} PLCs up, {} tags: {} good, {} uncertain, {} bad", up,
                                      places.size(), good + uncertain + bad, good, uncertain, bad);
    line.size = std::min(end.size, line.text.size());
    return line;
}

}  // namespace tagferry::gateway
