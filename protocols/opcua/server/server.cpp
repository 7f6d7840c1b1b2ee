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
    const bool sane =
        bounds.chunk_size >= 8'192 && bounds.max_request_size >= bounds.chunk_size &&
        bounds.max_sessions != 0 && bounds.max_channels != 0 &&
        bounds.max_pending_operations != 0 && bounds.max_pending_writes != 0 &&
        bounds.max_nodes_per_write != 0 && bounds.max_continuation_points != 0 &&
        bounds.max_response_chunks != 0 && bounds.max_response_chunks <= most_response_chunks &&
        bounds.max_registered_nodes <= most_registered_nodes && bounds.pipelined_responses != 0 &&
        bounds.turn_frames != 0 && bounds.min_session_timeout_ms <= bounds.max_session_timeout_ms &&
        bounds.min_token_lifetime_ms <= bounds.max_token_lifetime_ms &&
        bounds.min_token_lifetime_ms != 0;
    if (!sane) {
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
    connection_registry& registry = parts_->registry;
    const std::size_t most = parts_->state.bounds.max_channels;
    const auto& all = registry.all();
    const auto alive = static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [](const connection_engine* each) { return !each->is_closing(); }));
    if (registry.size() >= 2 * most) {
        return nullptr;
    }
    if (alive >= most) {
        // E22: the oldest channel without a session makes room, so that a flood of channels
        // cannot keep a client from logging in.
        const auto victim = std::find_if(all.begin(), all.end(), [&](connection_engine* each) {
            return !each->is_closing() &&
                   !parts_->state.sessions.any_on_channel(each->channel_id());
        });
        if (victim == all.end()) {
            return nullptr;
        }
        (*victim)->evict();
    }
    return std::make_unique<connection_engine>(parts_->state, registry, peer);
}

transport::time_point server::deadline() const noexcept {
    auto first = parts_->state.sessions.deadline();
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
            .registered_nodes = state.registered.size()};
}

void server::expire(transport::time_point now) {
    server_state& state = parts_->state;
    while (session* const gone = state.sessions.expired(now)) {
        state.end_session(*gone);
    }
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
