#include "protocols/opcua/server/server.hpp"

#include "protocols/opcua/server/connection_engine.hpp"
#include "protocols/opcua/server/connection_registry.hpp"
#include "protocols/opcua/services/server_state.hpp"
#include "transport/memory/random.hpp"

#include <algorithm>
#include <stdexcept>

namespace tagferry::opcua {
namespace {

void check(const limits& bounds) {
    const bool sane = bounds.chunk_size >= 8'192 && bounds.max_request_size >= bounds.chunk_size &&
                      bounds.max_sessions != 0 && bounds.max_channels != 0 &&
                      bounds.max_channels_per_address != 0 && bounds.max_pending_operations != 0 &&
                      bounds.max_pending_writes != 0 && bounds.max_nodes_per_write != 0 &&
                      bounds.max_continuation_points != 0 && bounds.max_response_chunks != 0 &&
                      bounds.max_response_chunks <= most_response_chunks &&
                      bounds.max_registered_nodes <= most_registered_nodes &&
                      bounds.pipelined_responses != 0 && bounds.turn_frames != 0 &&
                      bounds.min_session_timeout_ms <= bounds.max_session_timeout_ms &&
                      bounds.min_token_lifetime_ms <= bounds.max_token_lifetime_ms &&
                      bounds.min_token_lifetime_ms != 0;
    const bool sane_subscriptions =
        bounds.max_subscriptions != 0 && bounds.max_subscriptions <= most_subscriptions &&
        bounds.max_monitored_items != 0 && bounds.max_monitored_items <= most_monitored_items &&
        bounds.min_publishing_interval_ms != 0 &&
        bounds.min_publishing_interval_ms <= bounds.max_publishing_interval_ms &&
        bounds.max_keep_alive_count != 0 &&
        bounds.max_lifetime_count / 3 >= bounds.max_keep_alive_count &&
        bounds.max_notifications_per_message != 0 && bounds.max_publish_requests_per_session != 0 &&
        bounds.max_publish_requests != 0 && bounds.max_acknowledgements <= most_acknowledgements &&
        bounds.max_unsent_messages != 0 && bounds.max_item_queue_size != 0 &&
        bounds.min_sampling_interval_ms != 0 && bounds.max_triggering_links != 0 &&
        bounds.max_retransmission_messages != 0;
    if (!sane || !sane_subscriptions) {
        throw std::invalid_argument{"a limit of the OPC UA server is out of range"};
    }
}

const limits& checked(const limits& bounds) {
    check(bounds);
    return bounds;
}

std::uint32_t random_start() {
    std::uint32_t number = 0;
    transport::fill_random(std::as_writable_bytes(std::span{&number, 1}));
    return number >> 1U;
}

// Of "host:port".
std::string_view host_of(std::string_view peer) noexcept {
    return peer.substr(0, peer.rfind(':'));
}

// E22: among the connections that `counts`, the oldest without a session makes room for one more,
// so that a flood of channels cannot keep a client from logging in. False: all have sessions.
template <typename Counts>
bool make_room(server_state& state, const connection_registry& registry, std::size_t most,
               Counts&& counts) {
    connection_engine* victim = nullptr;
    std::size_t alive = 0;
    for (connection_engine* const each : registry.all()) {
        if (each->is_closing() || !counts(*each)) {
            continue;
        }
        ++alive;
        if (victim == nullptr && !state.sessions.any_on_channel(each->channel_id())) {
            victim = each;
        }
    }
    if (alive < most) {
        return true;
    }
    if (victim == nullptr) {
        return false;
    }
    victim->evict();
    state.counted.evicted.add(1);
    return true;
}

}  // namespace

struct server::parts final : transport::completion_sink {
    parts(const backend& ports, const limits& bounds, const transport::clock& time)
        : state(ports, checked(bounds), time),
          registry(std::size_t{2} * bounds.max_channels, random_start()) {
        state.resumer = this;
    }

    void resume(transport::completion_token token, std::uint32_t,
                transport::time_point now) override {
        operation* const op = state.operations.find(token);
        if (op == nullptr || op->phase == operation_phase::running) {
            return;
        }
        if (op->phase == operation_phase::abandoned) {
            state.release(*op);
            return;
        }
        op->owner->resume_operation(*op, now);
    }

    server_state state;
    connection_registry registry;
};

server::server(const backend& ports, const limits& bounds, const transport::clock& time)
    : parts_(std::make_unique<parts>(ports, bounds, time)) {}

server::~server() = default;

std::unique_ptr<transport::engine> server::make_connection(std::string_view peer) {
    server_state& state = parts_->state;
    connection_registry& registry = parts_->registry;
    if (registry.size() >= std::size_t{2} * state.bounds.max_channels) {
        state.counted.refused_by_channels.add(1);
        return nullptr;
    }
    const std::string_view host = host_of(peer);
    const auto any = [](const connection_engine&) { return true; };
    const auto same_host = [&](const connection_engine& each) {
        return host_of(each.peer()) == host;
    };
    const bool for_address =
        make_room(state, registry, state.bounds.max_channels_per_address, same_host);
    const bool for_all = for_address && make_room(state, registry, state.bounds.max_channels, any);
    auto made = std::make_unique<connection_engine>(state, registry, peer);
    if (!for_all) {
        (for_address ? state.counted.refused_by_channels : state.counted.refused_by_address).add(1);
        made->refuse();
    }
    return made;
}

transport::time_point server::deadline() const noexcept {
    auto first = std::min(parts_->state.sessions.deadline(), parts_->state.publishing.deadline());
    if (parts_->state.pending_count.value() != 0) {
        parts_->state.operations.for_each([&](transport::completion_token, operation& each) {
            if (each.phase == operation_phase::pending) {
                first = std::min(first, each.deadline);
            }
        });
    }
    return first;
}

server_statistics server::statistics() const noexcept {
    const server_state& state = parts_->state;
    return {.sessions = state.sessions.count(),
            .pending_operations = state.pending_count.value(),
            .continuation_points = state.continuation_count.value(),
            .registered_nodes = state.registered.size(),
            .subscriptions = state.publishing.count(),
            .monitored_items = state.publishing.items().item_count(),
            .publish_requests = state.publishing.held(),
            .queue_bytes = state.publishing.items().queue_bytes(),
            .retransmission_bytes = state.publishing.retransmission_bytes(),
            .notifications = state.publishing.notifications(),
            .queue_overflows = state.publishing.items().overflows(),
            .refused_by_channels = state.counted.refused_by_channels.value(),
            .refused_by_address = state.counted.refused_by_address.value(),
            .evicted = state.counted.evicted.value()};
}

void server::expire(transport::time_point now) {
    server_state& state = parts_->state;
    while (session* const gone = state.sessions.expired(now)) {
        state.counted.sessions_timed_out.add(1);
        state.tell(server_event::session_timed_out, *gone, {});
        state.end_session(*gone, false, now);
    }
    state.publishing.expire(now);
    if (state.pending_count.value() == 0) {
        return;
    }
    state.operations.for_each([&](transport::completion_token, operation& each) {
        if (each.phase == operation_phase::pending && each.deadline <= now) {
            each.owner->give_up_operation(each, status::bad_timeout, now);
        }
    });
}

}  // namespace tagferry::opcua
