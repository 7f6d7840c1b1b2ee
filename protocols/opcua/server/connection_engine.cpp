#include "protocols/opcua/server/connection_engine.hpp"

#include "protocols/opcua/channel/open_message.hpp"
#include "protocols/opcua/server/connection_registry.hpp"
#include "transport/bytes/endian.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tagferry::opcua {
namespace {

using std::chrono::milliseconds;

// Where the numbers of the symmetric header stand behind the frame's (Part 6 §6.7.2).
constexpr std::size_t channel_id_at = 0;
constexpr std::size_t token_id_at = 4;
constexpr std::size_t sequence_number_at = 8;
constexpr std::size_t request_id_at = 12;

std::uint32_t number_at(bytes_view body, std::size_t at) noexcept {
    return transport::load<std::uint32_t>(body.data() + at, std::endian::little);
}

}  // namespace

connection_engine::connection_engine(server_state& shared, connection_registry& registry,
                                     std::string_view peer)
    : server_(shared), registry_(registry), outbox_(shared.links), peer_(peer) {
    registry_.add(*this);
}

connection_engine::~connection_engine() {
    registry_.remove(*this);
}

void connection_engine::opened(transport::engine_host& host, transport::time_point now) {
    host_ = &host;
    phase_ = phase::expects_hello;
    phase_deadline_ = now + milliseconds{server_.bounds.hello_timeout_ms};
    if (refused_) {
        end_with(status::bad_tcp_server_too_busy, transport::close_reason::refused);
    }
}

transport::input_wish connection_engine::wants_input() const noexcept {
    const bool wanted = phase_ != phase::closing && !blocked_ && may_admit();
    return {wanted, frame_size_};
}

// TX9: what waits to leave is bounded; beyond that nothing new is taken in.
bool connection_engine::may_admit() const noexcept {
    return outbox_.size() < server_.bounds.pipelined_responses;
}

transport::receive_result connection_engine::receive(std::span<std::byte> bytes,
                                                     transport::time_point now) {
    wall_now_ = 0;
    const transport::receive_result result = handle_frames(bytes, now);
    count_answered(now);
    return result;
}

transport::receive_result connection_engine::handle_frames(std::span<const std::byte> bytes,
                                                           transport::time_point now) {
    std::size_t consumed = 0;
    std::uint32_t frames = 0;
    frame_size_ = 0;
    // One budget for all requests of the turn, not one for each.
    transport::turn_budget budget = make_budget(now);
    budget_ = &budget;
    const auto begun = std::exchange(frame_deadline_, transport::time_point::max());
    bool incomplete = false;
    while (phase_ != phase::closing && may_admit()) {
        const std::span<const std::byte> rest = bytes.subspan(consumed);
        if (rest.size() < frame_header_size) {
            incomplete = !rest.empty();
            break;  // RX2
        }
        const std::uint32_t largest =
            agreed_.receive_size == 0 ? server_.bounds.pre_hello_chunk_size : agreed_.receive_size;
        frame_header frame;
        const status_code valid =
            read_frame_header(rest.first<frame_header_size>(), largest, frame);
        if (valid != status::good) [[unlikely]] {
            end_with(valid, transport::close_reason::protocol_error);
            break;
        }
        if (rest.size() < frame.size) [[unlikely]] {
            frame_size_ = frame.size;
            incomplete = true;
            break;
        }
        if (frames++ == server_.bounds.turn_frames || budget.exhausted()) {
            return {consumed, true};  // RX13
        }
        switch (handle(frame, rest.first(frame.size), now)) {
            case outcome::handled:
                consumed += frame.size;
                break;
            case outcome::held:
                return {consumed, true};
            case outcome::blocked:
                return {consumed, false};
            case outcome::ended:
                return {bytes.size(), false};
        }
    }
    if (incomplete) [[unlikely]] {
        // RX8: the peer has to finish what it began, counted from the frame's first byte.
        const bool is_new = consumed != 0 || begun == transport::time_point::max();
        frame_deadline_ = is_new ? now + milliseconds{server_.bounds.frame_timeout_ms} : begun;
    }
    return {phase_ == phase::closing ? bytes.size() : consumed, false};
}

connection_engine::outcome connection_engine::handle(const frame_header& frame,
                                                     std::span<const std::byte> bytes,
                                                     transport::time_point now) {
    const bytes_view body = bytes.subspan(frame_header_size);
    switch (frame.type) {
        case frame_type::hello:
            return handle_hello(body, now);
        case frame_type::open:
            return handle_open(body, now);
        case frame_type::message:
        case frame_type::close:
            return handle_message(frame, body, now);
        case frame_type::acknowledge:
        case frame_type::error:
        case frame_type::reverse_hello:
            // Known types that only servers send, or that start a connection the other way round.
            break;
    }
    return end_with(status::bad_tcp_message_type_invalid, transport::close_reason::protocol_error);
}

template <typename Write>
bool connection_engine::queue_single(Write&& write) noexcept {
    out_chunk chunk;
    chunk.buffer = server_.responses.rent();
    if (!chunk.buffer) {
        return false;
    }
    chunk.size = static_cast<std::uint32_t>(write(chunk.buffer.bytes()));
    outbox_.push(std::move(chunk));
    host_->output_ready();
    return true;
}

// TX8: the Error goes out behind what is queued, then the connection closes gently.
connection_engine::outcome connection_engine::end_with(status_code why,
                                                       transport::close_reason reason) noexcept {
    if (phase_ != phase::closing) {
        phase_ = phase::closing;
        if (reason == transport::close_reason::protocol_error ||
            (reason == transport::close_reason::timed_out && why == status::bad_timeout)) {
            tell(server_event::protocol_error, why);
        }
        queue_single([&](std::span<std::byte> to) { return write_error(to, why); });
        host_->close_after_flush(reason);
    }
    return outcome::ended;
}

void connection_engine::tell(server_event what, status_code result) noexcept {
    event_facts facts;
    facts.peer = peer_;
    facts.channel_id = channel_id_;
    facts.result = result;
    server_.ports.events.happened(what, facts);
}

connection_engine::outcome connection_engine::handle_hello(bytes_view body,
                                                           transport::time_point now) {
    if (phase_ != phase::expects_hello) {
        return end_with(status::bad_tcp_message_type_invalid,
                        transport::close_reason::protocol_error);
    }
    text_view url;
    negotiated agreed;
    const status_code valid = read_hello(body, server_.bounds, agreed, url);
    if (valid != status::good) {
        return end_with(valid, transport::close_reason::protocol_error);
    }
    const bool queued = queue_single(
        [&](std::span<std::byte> to) { return write_acknowledge(to, agreed, server_.bounds); });
    if (!queued) {
        blocked_ = true;
        server_.responses.wait(*this);
        return outcome::blocked;
    }
    agreed_ = agreed;
    endpoint_url_.assign(url);
    phase_ = phase::expects_open;
    phase_deadline_ = now + milliseconds{server_.bounds.open_timeout_ms};
    return outcome::handled;
}

status_code connection_engine::check_open(const open_request& request) const noexcept {
    if (request.security_mode != static_cast<std::uint32_t>(security_mode::none)) {
        return status::bad_security_mode_rejected;
    }
    if (phase_ == phase::open) {
        // One connection carries one channel: a second Issue is an attack or a mistake.
        return !request.renew                      ? status::bad_security_checks_failed
               : request.channel_id != channel_id_ ? status::bad_tcp_secure_channel_unknown
                                                   : status::good;
    }
    return request.renew || request.channel_id != 0 ? status::bad_tcp_secure_channel_unknown
                                                    : status::good;
}

connection_engine::outcome connection_engine::handle_open(bytes_view body,
                                                          transport::time_point now) {
    if (phase_ != phase::expects_open && phase_ != phase::open) {
        return end_with(status::bad_tcp_message_type_invalid,
                        transport::close_reason::protocol_error);
    }
    if (server_.responses.free_count() == 0) {
        blocked_ = true;
        server_.responses.wait(*this);
        return outcome::blocked;
    }
    open_request request;
    status_code valid = read_open(body, server_.bounds, request);
    valid = valid == status::good ? check_open(request) : valid;
    if (valid == status::good && !received_.accept(request.sequence_number)) {
        valid = status::bad_sequence_number_invalid;
    }
    if (valid != status::good) {
        return end_with(valid, transport::close_reason::protocol_error);
    }
    if (phase_ == phase::expects_open) {
        channel_id_ = registry_.next_channel_id();
        channel_ = {channel_id_, security_mode::none, endpoint_url_, peer_, this};
        phase_ = phase::open;
        tell(server_event::channel_opened, status::good);
    }
    // A lifetime of 0 leaves the choice to the server.
    const std::uint32_t longest = server_.bounds.max_token_lifetime_ms;
    const std::uint32_t lifetime = request.requested_lifetime_ms == 0
                                       ? longest
                                       : std::clamp(request.requested_lifetime_ms,
                                                    server_.bounds.min_token_lifetime_ms, longest);
    open_response answer;
    answer.channel_id = channel_id_;
    answer.token_id = tokens_.issue(milliseconds{lifetime}, now);
    answer.sequence_number = sent_.next();
    answer.request_id = request.request_id;
    answer.request_handle = request.header.request_handle;
    answer.now_ticks = date_time_ticks(server_.time.wall_now());
    answer.revised_lifetime_ms = lifetime;
    queue_single([&](std::span<std::byte> to) { return write_open(to, answer); });
    phase_deadline_ = tokens_.end();
    return outcome::handled;
}

// @param body at least as long as the smallest frame's, so the numbers are there.
status_code connection_engine::check_symmetric(bytes_view body,
                                               transport::time_point now) noexcept {
    if (phase_ != phase::open) {
        return status::bad_tcp_message_type_invalid;
    }
    if (number_at(body, channel_id_at) != channel_id_) {
        return status::bad_tcp_secure_channel_unknown;
    }
    if (!tokens_.accept(number_at(body, token_id_at), now)) {
        return status::bad_secure_channel_token_unknown;
    }
    phase_deadline_ = tokens_.end();
    if (!received_.accept(number_at(body, sequence_number_at))) {
        return status::bad_sequence_number_invalid;
    }
    return status::good;
}

connection_engine::outcome connection_engine::handle_message(const frame_header& frame,
                                                             bytes_view body,
                                                             transport::time_point now) {
    constexpr std::size_t head_size = symmetric_head_size - frame_header_size;
    if (running_ != nullptr) [[unlikely]] {
        return go_on(assembly_.active() ? assembly_.body() : body.subspan(head_size), now);
    }
    // A request needs its response slot before anything of it is counted as received, so that it
    // can wait in the input for one.
    if (frame.type == frame_type::message && frame.kind == chunk_kind::final &&
        server_.responses.free_count() == 0) {
        blocked_ = true;
        server_.responses.wait(*this);
        return outcome::blocked;
    }
    const status_code valid = check_symmetric(body, now);
    if (valid != status::good) [[unlikely]] {
        return end_with(valid, transport::close_reason::protocol_error);
    }
    const std::uint32_t request_id = number_at(body, request_id_at);
    if (frame.type == frame_type::close) [[unlikely]] {
        phase_ = phase::closing;
        host_->close_after_flush(transport::close_reason::requested);
        return outcome::ended;
    }
    if (frame.kind == chunk_kind::final && !assembly_.active()) {
        return start_request(request_id, body.subspan(head_size), now);
    }
    return handle_chunk(frame.kind, request_id, body.subspan(head_size), now);
}

connection_engine::outcome connection_engine::handle_chunk(chunk_kind kind,
                                                           std::uint32_t request_id,
                                                           bytes_view body,
                                                           transport::time_point now) {
    if (kind == chunk_kind::abort) {
        assembly_.clear();  // E18: nothing is answered, the channel lives on
        return outcome::handled;
    }
    const status_code added =
        assembly_.add(body, request_id, server_.assemblies, server_.bounds, now);
    if (added != status::good) {
        assembly_.clear();
        return end_with(added, transport::close_reason::protocol_error);
    }
    return kind == chunk_kind::final ? start_request(request_id, assembly_.body(), now)
                                     : outcome::handled;
}

void connection_engine::pull(transport::send_batch& batch, transport::time_point) {
    outbox_.pull(batch);
}

void connection_engine::written(const transport::write_report&) {
    // A failed write ends the connection; the driver says so in `closed`.
    outbox_.pop();
    if (is_awaited_ && may_publish()) {
        is_awaited_ = false;
        server_.publishing.channel_ready();
    }
}

transport::time_point connection_engine::deadline() const noexcept {
    return phase_ == phase::closing
               ? transport::time_point::max()
               : std::min({phase_deadline_, frame_deadline_, assembly_.deadline()});
}

void connection_engine::expire(transport::time_point now) {
    if (phase_ == phase::closing || deadline() > now) {
        return;
    }
    // RX8 before the channel is open or for a message left incomplete; else the client let its
    // token run out.
    const bool token_ended = phase_ == phase::open && tokens_.end() <= now;
    end_with(token_ended ? status::bad_secure_channel_closed : status::bad_timeout,
             transport::close_reason::timed_out);
}

void connection_engine::closed(const transport::close_info&, transport::time_point) {
    phase_ = phase::closing;
    if (channel_id_ != 0) {
        tell(server_event::channel_closed, status::good);
    }
    host_ = nullptr;
    server_.publishing.channel_gone(*this);
    server_.responses.stop_waiting(*this);
    if (running_ != nullptr) {
        server_.release(*running_);
        running_ = nullptr;
    }
    server_.operations.for_each([&](transport::completion_token, operation& each) {
        if (each.owner == this && each.phase == operation_phase::pending) {
            each.phase = operation_phase::abandoned;
            each.owner = nullptr;
            each.response.close();
        }
    });
    assembly_.clear();
    outbox_.clear();
}

void connection_engine::resume(transport::completion_token, std::uint32_t, transport::time_point) {}

void connection_engine::slot_returned() noexcept {
    blocked_ = false;
    if (host_ != nullptr) {
        host_->output_ready();
    }
}

void connection_engine::begin_message(response_writer& message, std::uint32_t max_response_size) {
    std::uint32_t most = agreed_.response_message_size;
    if (max_response_size != 0) {
        most = most == 0 ? max_response_size : std::min(most, max_response_size);
    }
    message.begin(agreed_.send_size, most, agreed_.response_chunk_count);
}

void connection_engine::send_message(response_writer& message, std::uint32_t request_id,
                                     transport::time_point now) {
    if (phase_ == phase::open) {
        queue(message, request_id, now);
    } else {
        message.close();
    }
}

// What a slow client is behind with is bounded in messages, and so in chunks.
bool connection_engine::may_publish() const noexcept {
    return outbox_.size() < server_.bounds.max_unsent_messages;
}

void connection_engine::evict() noexcept {
    if (host_ != nullptr) {
        end_with(status::bad_tcp_server_too_busy, transport::close_reason::refused);
    }
}

}  // namespace tagferry::opcua
