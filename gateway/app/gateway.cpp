#include "gateway/app/gateway.hpp"

#include "gateway/app/parts.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;

/// How long clients and links may take to close before the threads are ended anyway.
constexpr auto longest_goodbye = 3s;
constexpr auto look_interval = 5ms;
constexpr int most_stop_posts = 200;

}  // namespace

gateway::gateway(config::configuration settings, const gateway_options& options,
                 log::logger& logger, const transport::clock& clock)
    : parts_(std::make_unique<parts>(std::move(settings), options, logger, clock)) {}

gateway::~gateway() = default;

const gateway_endpoints& gateway::endpoints() const noexcept {
    return parts_->endpoints;
}

void gateway::start() {
    parts_->start();
}

void gateway::stop() {
    parts_->stop();
}

void gateway::parts::start() {
    opcua_listener->start();
    http_listener->start();
    workers.start();
    for (shard_parts& each : shards) {
        each.shard->start();
    }
    running = true;
    web_identity_part->set_ready(true);
    for (const std::string& each : endpoints.opcua) {
        logger.write(log::event::listener_opened, {{"endpoint", each}});
    }
    for (const std::string& each : endpoints.http) {
        logger.write(log::event::listener_opened, {{"endpoint", each}});
    }
}

/// On its shard.
void gateway::parts::begin_stop(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& on = *static_cast<shard_parts*>(object);
    parts& whole = *on.whole;
    if (&on == &whole.shards.front()) {
        whole.opcua_listener->stop();
        whole.http_listener->stop();
    }
    for (const std::size_t link : on.links) {
        whole.sources[link]->stop();
    }
}

/// On its shard.
void gateway::parts::look_whether_quiet(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& on = *static_cast<shard_parts*>(object);
    parts& whole = *on.whole;
    bool quiet = &on != &whole.shards.front() ||
                 (whole.opcua_listener->idle() && whole.http_listener->idle());
    for (const std::size_t link : on.links) {
        quiet = quiet && whole.sources[link]->stopped();
    }
    on.quiet.store(quiet, std::memory_order_release);
}

bool gateway::parts::wait_until_quiet() {
    const auto end = std::chrono::steady_clock::now() + longest_goodbye;
    while (std::chrono::steady_clock::now() < end) {
        bool quiet = true;
        for (shard_parts& each : shards) {
            if (!each.quiet.load(std::memory_order_acquire)) {
                quiet = false;
                static_cast<void>(each.shard->post({&parts::look_whether_quiet, &each, 0, 0}));
            }
        }
        if (quiet) {
            return true;
        }
        std::this_thread::sleep_for(look_interval);
    }
    return false;
}

void gateway::parts::stop() {
    if (stopped) {
        return;
    }
    stopped = true;
    web_identity_part->set_ready(false);
    if (running) {
        for (shard_parts& each : shards) {
            // A full mailbox empties within a turn or two.
            for (int tries = 0;
                 tries < most_stop_posts && !each.shard->post({&parts::begin_stop, &each, 0, 0});
                 ++tries) {
                std::this_thread::sleep_for(look_interval);
            }
        }
        static_cast<void>(wait_until_quiet());
    }
    // Before the shards, so that every completion finds its owner.
    workers.stop();
    for (shard_parts& each : shards) {
        each.shard->stop();
    }
    for (shard_parts& each : shards) {
        each.shard->join();
    }
}

}  // namespace tagferry::gateway
