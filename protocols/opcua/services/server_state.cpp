#include "protocols/opcua/services/server_state.hpp"

#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {

server_state::server_state(const backend& gateway, const limits& limits_in_force,
                           const transport::clock& clock_in_force)
    : ports(gateway),
      bounds(limits_in_force),
      time(clock_in_force),
      space(gateway),
      sessions(bounds),
      registered(bounds.max_registered_nodes),
      responses({"opcua_response", bounds.chunk_size, bounds.response_slots}),
      links(bounds.response_slots),
      requests({"opcua_request", bounds.chunk_size, bounds.request_slots}),
      assemblies({"opcua_assembly", bounds.max_request_size, bounds.assembly_slots}),
      write_lists({"opcua_write", write_list::bytes_for(bounds.max_nodes_per_write),
                   bounds.max_pending_writes}),
      // Each connection runs at most one, the rest are pending; connections that are being
      // evicted count for a moment with those that replace them.
      operations(std::size_t{2} * bounds.max_channels + bounds.max_pending_operations),
      continuations(bounds.max_continuation_points),
      publishing({ports, bounds, counted}, counted, time, responses),
      service_calls(service_count()) {}

void server_state::release_continuation(session& owner,
                                        transport::completion_token token) noexcept {
    if (continuations.release(token)) {
        --owner.continuation_points;
        continuation_count.subtract(1);
    }
}

void server_state::tell(server_event what, const session& whose, std::string_view peer) noexcept {
    event_facts facts;
    facts.peer = peer;
    facts.channel_id = whose.channel_id;
    facts.session_id = whose.number;
    facts.session_name = whose.name;
    facts.client_uri = whose.client_uri;
    facts.user = whose.user;
    ports.events.happened(what, facts);
}

void server_state::end_session(session& gone, bool delete_subscriptions,
                               transport::time_point now) {
    publishing.session_ended(gone, delete_subscriptions, now);
    registered.remove_all(gone);
    continuations.for_each([&](transport::completion_token token, continuation_point& point) {
        if (point.session_number == gone.number) {
            release_continuation(gone, token);
        }
    });
    operations.for_each([&](transport::completion_token, operation& each) {
        if (each.phase == operation_phase::pending && each.who == &gone) {
            each.phase = operation_phase::abandoned;
            each.owner = nullptr;
            each.response.close();
        }
    });
    sessions.remove(gone);
    counted.sessions.subtract(1);
}

void server_state::release(operation& done) noexcept {
    if (done.phase != operation_phase::running) [[unlikely]] {
        pending_count.subtract(1);
        if (done.who != nullptr && done.who->in_use && done.who->number == done.session_number) {
            --done.who->pending_operations;
        }
    }
    if (done.response.is_open()) [[unlikely]] {
        done.response.close();
    }
    done.request.reset();
    done.writes.close();
    done.owner = nullptr;
    operations.release(done.token);
}

}  // namespace tagferry::opcua
