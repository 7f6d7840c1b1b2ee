// The part of the connection that turns a complete message into an answer.
#include "protocols/opcua/encoding/message_header.hpp"
#include "protocols/opcua/server/connection_engine.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "transport/bytes/endian.hpp"
#include "transport/memory/operation_batch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace tagferry::opcua {

connection_engine::outcome connection_engine::start_request(std::uint32_t request_id,
                                                            bytes_view body,
                                                            transport::time_point now) {
    transport::completion_token token;
    if (!server_.operations.take(token)) [[unlikely]] {
        return end_with(status::bad_tcp_not_enough_resources,
                        transport::close_reason::protocol_error);
    }
    operation& op = *server_.operations.find(token);
    op.token = token;
    op.phase = operation_phase::running;
    op.owner = this;
    op.which = nullptr;
    op.who = nullptr;
    op.session_number = 0;
    op.channel_id = channel_id_;
    op.request_id = request_id;
    op.request_handle = 0;
    op.fault = status::good;
    op.arrived = now;
    op.deadline = transport::time_point::max();
    op.wall_now = wall_now();
    op.begun = false;
    op.list = {};
    op.request_size = 0;
    op.response.open(server_.responses);
    op.response.begin(agreed_.send_size, agreed_.response_message_size,
                      agreed_.response_chunk_count);
    decoder in{body, server_.bounds};
    identify(op, in, now);
    op.list.position = in.position();
    running_ = &op;
    return go_on(body, now);
}

// The requests of one turn arrived together.
transport::wall_time_ns connection_engine::wall_now() noexcept {
    if (wall_now_ == 0) {
        wall_now_ = server_.time.wall_now();
    }
    return wall_now_;
}

// Type, header and session of a request; what is wrong with them becomes the fault.
void connection_engine::identify(operation& op, decoder& in, transport::time_point now) {
    const node_id_view type = in.node_id();
    const request_header header = read_request_header(in);
    op.request_handle = header.request_handle;
    if (!in.ok()) [[unlikely]] {
        op.fault = in.status();
        return;
    }
    // A hint of 0 is none, and the greatest must not overflow the clock (E33).
    if (header.timeout_hint_ms != 0) {
        op.deadline = now + std::chrono::milliseconds{header.timeout_hint_ms};
    }
    op.which = type.kind == node_id_kind::numeric && type.namespace_index == 0
                   ? find_service(type.number)
                   : nullptr;
    if (op.which == nullptr) [[unlikely]] {
        op.fault = status::bad_service_unsupported;
        return;
    }
    ++server_.service_calls[service_index(*op.which)];
    op.fault = check_session(*op.which, header.authentication_token, op, now);
    if (op.fault == status::good && op.which->run == nullptr) [[unlikely]] {
        op.fault = status::bad_service_unsupported;
    }
}

status_code connection_engine::check_session(const service& which, const node_id_view& token,
                                             operation& op, transport::time_point now) noexcept {
    if (which.needs == session_need::none) {
        return status::good;
    }
    session* const who = server_.sessions.find(token);
    if (who == nullptr) {
        return status::bad_session_id_invalid;
    }
    if (which.needs == session_need::activated) {
        if (!who->activated) {
            return status::bad_session_not_activated;  // E12
        }
        if (who->channel_id != channel_id_) {
            return status::bad_secure_channel_id_invalid;  // E08
        }
        if (which.access != 0 && (which.access & who->roles) == 0) {
            return status::bad_user_access_denied;
        }
    }
    session_table::touch(*who, now);
    op.who = who;
    op.session_number = who->number;
    if (who->max_response_size != 0) {
        begin_message(op.response, who->max_response_size);
    }
    return status::good;
}

transport::turn_budget connection_engine::make_budget(transport::time_point now) const noexcept {
    return {server_.time, now, server_.bounds.turn_items,
            std::chrono::microseconds{server_.bounds.turn_us}};
}

// One step of the running request, whose body is shown again unless it was copied.
connection_engine::outcome connection_engine::go_on(bytes_view body, transport::time_point now) {
    operation& op = *running_;
    if (op.who != nullptr && (!op.who->in_use || op.who->number != op.session_number))
        [[unlikely]] {
        op.fault = status::bad_session_closed;  // it ended while its request took several turns
    }
    step done = step::finished;
    if (op.fault == status::good) [[likely]] {
        done = run(op, op.request ? op.kept_body() : body, now);
        if (done == step::kept) [[unlikely]] {
            if (keep(op, body)) {
                done = run(op, op.kept_body(), now);
            } else {
                op.fault = status::bad_resource_unavailable;
            }
        }
    }
    if (done == step::yielded) [[unlikely]] {
        return outcome::held;
    }
    running_ = nullptr;
    if (done == step::held) {
        server_.release(op);
        assembly_.clear();
        return outcome::handled;
    }
    if (done == step::deferred) [[unlikely]] {
        // It was checked before asking that a pending operation is allowed; should the copy fail,
        // the client still gets an answer, and the backend's resume finds nobody.
        if (op.request || keep(op, body)) {
            park(op);
            return outcome::handled;
        }
        op.fault = status::bad_resource_unavailable;
    }
    answer(op, now);
    assembly_.clear();
    return outcome::handled;
}

step connection_engine::run(operation& op, bytes_view body, transport::time_point now) {
    const transport::operation_scope scope{op.which->kind != nullptr ? *op.which->kind
                                                                     : transport::kind_control};
    actor who;
    if (op.who != nullptr) {
        who.session_id = op.who->number;
        who.session_name = op.who->name;
        who.user = op.who->user;
        who.roles = op.who->roles;
    }
    who.channel_security = security_mode::none;
    who.channel_id = channel_id_;
    who.peer = peer_;
    const call caller{who, op.deadline, op.token, server_.resumer};
    decoder in{body, server_.bounds};
    in.bytes(op.list.position);
    service_context context{server_, op,       in,    op.response.out(), *budget_, now,
                            op.who,  channel_, caller};
    return op.which->run(context);
}

// Copies the request, so that it outlasts its chunk.
bool connection_engine::keep(operation& op, bytes_view body) noexcept {
    if (assembly_.active()) {
        op.request = assembly_.take();
    } else {
        op.request = server_.requests.rent();
        if (!op.request || op.request.bytes().size() < body.size()) {
            return false;
        }
        std::memcpy(op.request.bytes().data(), body.data(), body.size());
    }
    op.request_size = body.size();
    return true;
}

void connection_engine::park(operation& op) noexcept {
    op.phase = operation_phase::pending;
    server_.pending_count.add(1);
    ++op.who->pending_operations;
}

void connection_engine::resume_operation(operation& resumed, transport::time_point now) {
    resumed.wall_now = server_.time.wall_now();
    const bytes_view body = resumed.kept_body();
    step done = step::yielded;
    // A batch of a deferred request is as long as a turn may be, so this does not go round often.
    while (done == step::yielded) {
        transport::turn_budget budget = make_budget(now);
        budget_ = &budget;
        done = run(resumed, body, now);
    }
    if (done == step::finished) {
        answer(resumed, now);
        count_answered(now);
    }
}

void connection_engine::give_up_operation(operation& gone, status_code why,
                                          transport::time_point now) {
    gone.fault = why;
    write_fault(gone);
    queue(gone.response, gone.request_id, now);
    gone.owner = nullptr;
    gone.phase = operation_phase::abandoned;
}

namespace {

bool is_about_access(status_code fault) noexcept {
    switch (fault) {
        case status::bad_user_access_denied:
        case status::bad_security_checks_failed:
        case status::bad_security_policy_rejected:
        case status::bad_identity_token_invalid:
        case status::bad_identity_token_rejected:
        case status::bad_session_id_invalid:
            return true;
        default:
            return false;
    }
}

}  // namespace

void connection_engine::write_fault(operation& op) noexcept {
    server_.counted.requests_rejected.add(1);
    server_.counted.requests_rejected_access.add(is_about_access(op.fault) ? 1 : 0);
    op.response.restart();
    write_response_header(op.response.out(), id::service_fault_binary, op.request_handle, op.fault,
                          date_time_ticks(op.wall_now));
    op.response.finish();
}

void connection_engine::answer(operation& op, transport::time_point now) {
    if (op.fault == status::good) {
        op.response.finish();
        op.fault = op.response.out().status();
    }
    if (op.fault != status::good) [[unlikely]] {
        write_fault(op);
    }
    queue(op.response, op.request_id, now);
    if (op.which != nullptr && op.which->kind != nullptr) {
        count(op, now);
    }
    server_.release(op);
}

// A request of the present turn took until its end, when the answer leaves: the clock is read once
// for all of them.
void connection_engine::count(const operation& op, transport::time_point now) noexcept {
    if (op.arrived != now) [[unlikely]] {
        transport::count_operation(*op.which->kind, server_.time.now() - op.arrived);
        return;
    }
    if (answered_ != op.which->kind) {
        count_answered(now);
        answered_ = op.which->kind;
    }
    ++answered_count_;
}

void connection_engine::count_answered(transport::time_point now) noexcept {
    if (answered_count_ == 0) {
        return;
    }
    transport::count_operations(*answered_, answered_count_, server_.time.now() - now);
    answered_count_ = 0;
}

namespace {

// "MSGF" and "MSGC" as they stand on the wire.
constexpr std::uint32_t letters(char kind) noexcept {
    return 'M' | std::uint32_t{'S'} << 8U | std::uint32_t{'G'} << 16U |
           static_cast<std::uint32_t>(kind) << 24U;
}
constexpr std::uint32_t final_chunk_letters = letters('F');
constexpr std::uint32_t part_chunk_letters = letters('C');

}  // namespace

// TX1, TX13: the whole message is encoded; only now its chunks get their numbers, in the order in
// which they leave.
void connection_engine::queue(response_writer& response, std::uint32_t request_id,
                              transport::time_point now) {
    const std::span<out_chunk> chunks = response.chunks();
    const std::uint32_t token = tokens_.sending(now);
    for (std::size_t at = 0; at < chunks.size(); ++at) {
        std::byte* head = chunks[at].buffer.bytes().data();
        const auto put = [&head](std::uint32_t number) {
            transport::store(head, number, std::endian::little);
            head += sizeof number;
        };
        put(at + 1 == chunks.size() ? final_chunk_letters : part_chunk_letters);
        put(chunks[at].size);
        put(channel_id_);
        put(token);
        put(sent_.next());
        put(request_id);
        outbox_.push(std::move(chunks[at]));
    }
    response.taken();
    host_->output_ready();
}

}  // namespace tagferry::opcua
