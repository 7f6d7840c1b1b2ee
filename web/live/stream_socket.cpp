#include "web/live/stream_socket.hpp"

#include "web/http/operations.hpp"

#include <algorithm>
#include <chrono>

namespace tagferry::web {
namespace {

using std::chrono::milliseconds;
using transport::time_point;

/// Entries written in one turn, snapshots and deltas together.
constexpr std::size_t entries_per_turn = 256;
/// Frames taken from one piece of input.
constexpr std::size_t frames_per_turn = 64;

std::span<char> text_of(const transport::pooled_buffer& buffer) noexcept {
    return {reinterpret_cast<char*>(buffer.bytes().data()), buffer.bytes().size()};
}

}  // namespace

stream_socket::stream_socket(stream_hub& hub, const actor& who)
    : hub_(hub), user_(who.user), peer_(who.peer), who_(who) {
    who_.user = user_;
    who_.peer = peer_;
    subscriptions_.reserve(hub.limits().stream_subscriptions);
    hub_.add(*this);
}

stream_socket::~stream_socket() {
    closed();
    hub_.remove(*this);
}

void stream_socket::opened(upgrade_carrier& carrier, time_point now) {
    carrier_ = &carrier;
    ping_at_ = now + milliseconds(hub_.limits().stream_ping_ms);
    silent_at_ = now + milliseconds(hub_.limits().stream_silence_ms);
    carrier_->produce_soon();
}

bool stream_socket::has_room() const noexcept {
    return carrier_->out().slots_held() < hub_.limits().stream_high_water_slots;
}

bool stream_socket::wants_input() const noexcept {
    return !ended_ && !close_due_ && reply_ == reply::none && finding_ == nullptr && has_room();
}

transport::receive_result stream_socket::receive(std::span<std::byte> bytes, time_point now) {
    if (ended_ || close_due_) {
        return {bytes.size(), false};
    }
    silent_at_ = now + milliseconds(hub_.limits().stream_silence_ms);
    std::size_t taken = 0;
    for (std::size_t frames = 0; taken < bytes.size(); ++frames) {
        if (!wants_input()) {
            break;
        }
        if (frames == frames_per_turn) {
            return {taken, true};
        }
        if (!message_) {
            // As many slots as sockets.
            message_ = hub_.message_pool().rent();
        }
        frame_event event;
        const std::size_t part = reader_.take(bytes.subspan(taken), text_of(message_), event);
        taken += part;
        handle(event, now);
        if (event.what == frame_event::kind::none && part == 0) {
            break;
        }
    }
    if (!reader_.inside_message()) {
        message_.reset();
        message_at_ = time_point::max();
    } else if (message_at_ == time_point::max()) {
        message_at_ = now + milliseconds(hub_.limits().stream_message_ms);
    }
    return {close_due_ ? bytes.size() : taken, false};
}

void stream_socket::handle(const frame_event& event, time_point now) {
    switch (event.what) {
        case frame_event::kind::none:
        case frame_event::kind::pong:
            break;
        case frame_event::kind::message:
            handle_message(event.text, now);
            break;
        case frame_event::kind::ping:
            reply_ = reply::pong;
            reply_text_size_ = event.text.copy(reply_text_.data(), reply_text_.size());
            carrier_->produce_soon();
            break;
        case frame_event::kind::close:
            close(event.code, {});
            break;
        case frame_event::kind::failed:
            close(event.code, event.text);
            break;
    }
}

void stream_socket::handle_message(std::string_view text, time_point) {
    const transport::operation_scope charged(transport::kind_control);
    const auto request = read_stream_request(text_of(message_).first(text.size()), hub_.limits());
    switch (request.what) {
        case stream_request::operation::malformed:
            close(close_code::malformed_message, request.detail);
            break;
        case stream_request::operation::refused:
            answer_error({request.id, "invalid_argument", request.detail, {}, {}});
            break;
        case stream_request::operation::subscribe:
            subscribe(request);
            break;
        case stream_request::operation::unsubscribe:
            unsubscribe(request.id);
            break;
    }
}

void stream_socket::subscribe(const stream_request& request) {
    const auto same = [&](const auto& known) { return known->id() == request.id; };
    if (std::ranges::any_of(subscriptions_, same)) {
        answer_error({request.id,
                      "id_in_use",
                      "There is a subscription of this id.",
                      "Unsubscribe first, or choose another id.",
                      {}});
        return;
    }
    if (subscriptions_.size() == hub_.limits().stream_subscriptions) {
        answer_error({request.id,
                      "too_many_subscriptions",
                      "One connection cannot have so many subscriptions.",
                      "Put more tags into each, or open another connection.",
                      {}});
        return;
    }
    subscriptions_.push_back(std::make_unique<subscription>(
        hub_, *this, request.id, request.min_interval, request.patterns));
    stream_counters::add(hub_.counters().subscriptions, 1);
    finding_ = subscriptions_.back().get();
    hub_.look_up(*finding_);
}

void stream_socket::unsubscribe(std::uint32_t id) {
    for (const auto& known : subscriptions_) {
        if (known->id() == id) {
            drop(*known);
            reply_ = reply::unsubscribed;
            unsubscribed_ = id;
            carrier_->produce_soon();
            return;
        }
    }
    answer_error({id, "unknown_id", "There is no subscription of this id.", {}, {}});
}

void stream_socket::answer_error(const stream_error& why) noexcept {
    reply_ = reply::error;
    error_ = why;
    reply_text_size_ = why.subject.copy(reply_text_.data(), reply_text_.size());
    // A character that was cut is shown as the one that stands for what is not UTF-8.
    error_.subject = {reply_text_.data(), reply_text_size_};
    carrier_->produce_soon();
}

/// The subscription is nobody's from here on.
void stream_socket::drop(subscription& which) noexcept {
    const auto place = std::ranges::find_if(
        subscriptions_, [&](const auto& known) { return known.get() == &which; });
    if (finding_ == &which) {
        finding_ = nullptr;
    }
    stream_counters::subtract(hub_.counters().subscriptions, 1);
    hub_.retire(std::move(*place));
    subscriptions_.erase(place);
}

void stream_socket::found(subscription& which) noexcept {
    finding_ = nullptr;
    which.state_ = subscription::state::describing;
    which.cursor_ = which.first_;
    which.ready_ = true;
    hub_.serve(*this);
}

void stream_socket::refused(subscription& which, const stream_error& why) noexcept {
    answer_error(why);
    drop(which);
}

void stream_socket::produce_soon(time_point now) noexcept {
    if (carrier_ == nullptr) {
        return;
    }
    // Nothing is produced while what was written before does not leave.
    if (slow_at_ == time_point::max()) {
        slow_at_ = now + milliseconds(hub_.limits().stream_slow_ms);
    }
    carrier_->produce_soon();
}

void stream_socket::close(close_code code, std::string_view words) noexcept {
    if (close_due_ || ended_) {
        return;
    }
    close_due_ = true;
    close_code_ = code;
    close_words_ = words;
    carrier_->produce_soon();
}

void stream_socket::produce(time_point now) {
    if (ended_) {
        return;
    }
    if (close_due_) {
        put_close();
        return;
    }
    const transport::operation_scope charged(ws_push);
    const call context = this->context(now);
    stream_writer writer(hub_, carrier_->out(), context);
    std::size_t budget = entries_per_turn;
    const bool room = put_own(writer, now) && put_subscriptions(writer, budget);
    if (!room && writer.waits_for_pool()) {
        carrier_->produce_with_next_slot();
    } else if (has_output() && has_room()) {
        hub_.serve(*this);
    }
    note_pace(now);
}

/// What is not of a subscription. False: no room.
bool stream_socket::put_own(stream_writer& writer, time_point now) noexcept {
    output_chain& out = carrier_->out();
    if (ping_due_ && has_room()) {
        if (!put_control_frame(out, frame_opcode::ping, {})) {
            out.forget_shortage();
        }
        // Without room there is no need for a ping either: bytes are on their way.
        ping_due_ = false;
        ping_at_ = now + milliseconds(hub_.limits().stream_ping_ms);
    }
    if (!reasons_told_) {
        reasons_told_ = writer.put_reasons();
        if (!reasons_told_) {
            return false;
        }
    }
    return reply_ == reply::none || put_reply(writer);
}

bool stream_socket::put_reply(stream_writer& writer) noexcept {
    bool written = false;
    switch (reply_) {
        case reply::none:
            return true;
        case reply::pong:
            written = put_control_frame(carrier_->out(), frame_opcode::pong,
                                        {reply_text_.data(), reply_text_size_});
            if (!written) {
                carrier_->out().forget_shortage();
                carrier_->produce_with_next_slot();
            }
            break;
        case reply::error:
            written = writer.put_error(error_);
            break;
        case reply::unsubscribed:
            written = writer.put_notice("unsubscribed", unsubscribed_);
            break;
    }
    reply_ = written ? reply::none : reply_;
    return written;
}

/// Messages of those that are ready, in turn. False: no slot for one.
bool stream_socket::put_subscriptions(stream_writer& writer, std::size_t& budget) noexcept {
    std::size_t idle = 0;
    while (!subscriptions_.empty() && idle < subscriptions_.size() && budget != 0 && has_room()) {
        turn_ = turn_ % subscriptions_.size();
        subscription& next = *subscriptions_[turn_];
        if (next.tell_changed_) {
            if (!writer.put_notice("changed", next.id())) {
                return false;
            }
            next.tell_changed_ = false;
        }
        if (!next.ready()) {
            ++turn_;
            ++idle;
            continue;
        }
        idle = 0;
        if (!writer.put_next(next, budget)) {
            return false;
        }
        if (!next.ready() && next.has_changes()) {
            hub_.schedule(next, writer.now());
        }
        ++turn_;
    }
    return true;
}

bool stream_socket::has_output() const noexcept {
    return reply_ != reply::none || std::ranges::any_of(subscriptions_, [](const auto& known) {
               return known->ready() || known->tell_changed_;
           });
}

/// A client is slow while more is to be written and what was written does not leave.
void stream_socket::note_pace(time_point now) noexcept {
    if (has_room() || !has_output()) {
        slow_at_ = time_point::max();
    } else if (slow_at_ == time_point::max()) {
        slow_at_ = now + milliseconds(hub_.limits().stream_slow_ms);
    }
}

void stream_socket::put_close() noexcept {
    output_chain& out = carrier_->out();
    if (!put_close_frame(out, close_code_, close_words_)) {
        // The connection's end says it too.
        out.forget_shortage();
    }
    ended_ = true;
    carrier_->close_after_flush(close_code_ == close_code::going_away
                                    ? transport::close_reason::shutting_down
                                    : transport::close_reason::requested);
}

void stream_socket::sent() {
    if (!ended_ && (has_output() || close_due_)) {
        carrier_->produce_soon();
    }
}

time_point stream_socket::deadline() const noexcept {
    if (ended_) {
        return time_point::max();
    }
    return std::min({ping_at_, silent_at_, message_at_, slow_at_});
}

void stream_socket::expire(time_point now) {
    if (ended_) {
        return;
    }
    if (now >= silent_at_) {
        ended_ = true;
        carrier_->abort(transport::close_reason::timed_out);
        return;
    }
    if (now >= message_at_) {
        message_at_ = time_point::max();
        close(close_code::protocol_error, "the message did not arrive in time");
    }
    if (now >= slow_at_) {
        slow_at_ = time_point::max();
        stream_counters::add(hub_.counters().slow, 1);
        close(close_code::too_slow, "the client does not take what it subscribed to");
    }
    if (now >= ping_at_) {
        ping_at_ = now + milliseconds(hub_.limits().stream_ping_ms);
        ping_due_ = true;
        carrier_->produce_soon();
    }
}

void stream_socket::closed() noexcept {
    ended_ = true;
    carrier_ = nullptr;
    while (!subscriptions_.empty()) {
        drop(*subscriptions_.back());
    }
    message_.reset();
}

}  // namespace tagferry::web
