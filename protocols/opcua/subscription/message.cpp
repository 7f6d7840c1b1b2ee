// The messages that answer a Publish: notifications, keep-alives, changes of status, and faults.
#include "protocols/opcua/encoding/message_header.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "protocols/opcua/subscription/subscriptions.hpp"

#include <algorithm>

namespace tagferry::opcua {
namespace {

// Behind the notifications: diagnostics of the notification, the number of results, diagnostics of
// the response; and four bytes for each result.
constexpr std::size_t tail_size = 3 * 4;

status_code code_of(acknowledged what) noexcept {
    switch (what) {
        case acknowledged::good:
            return status::good;
        case acknowledged::sequence_unknown:
            return status::bad_sequence_number_unknown;
        default:
            return status::bad_subscription_id_invalid;
    }
}

}  // namespace

bool subscriptions::send_fault(const session* who, const publish_request& to, status_code why,
                               transport::time_point now) {
    if (to.channel == nullptr) {
        return true;
    }
    response_writer fault;
    if (!fault.open(responses_)) {
        return false;
    }
    to.channel->begin_message(fault, who == nullptr ? 0 : who->max_response_size);
    write_response_header(fault.out(), id::service_fault_binary, to.request_handle, why,
                          date_time_ticks(time_.wall_now()));
    fault.finish();
    to.channel->send_message(fault, to.request_id, now);
    return true;
}

// Takes the session's oldest Publish and begins its answer: up to SubscriptionId.
bool subscriptions::open_message(publisher& to, std::uint32_t subscription_id) noexcept {
    if (!writer_.open(responses_)) {
        return false;  // it was seen before that slots are free
    }
    message_.request = take_held(to);
    message_.session_index = to.who->index;
    message_.request.channel->begin_message(writer_, to.who->max_response_size);
    write_response_header(writer_.out(), id::publish_response_binary,
                          message_.request.request_handle, status::good,
                          date_time_ticks(time_.wall_now()));
    writer_.out().u32(subscription_id);
    return true;
}

void subscriptions::write_results(const publish_request& request) noexcept {
    encoder& out = writer_.out();
    out.u32(request.result_count);
    for (std::uint32_t at = 0; at < request.result_count; ++at) {
        out.u32(code_of(request.result(at)));
    }
    out.u32(0);  // diagnosticInfos
}

void subscriptions::message_sent(subscription& of) noexcept {
    of.has_sent = true;
    of.silent_cycles = 0;
    of.deserted_cycles = 0;
}

// True: the message is begun, and `compose` goes on with it.
bool subscriptions::begin_data(publisher& to, subscription& of, transport::time_point now) {
    static_cast<void>(now);
    if (!open_message(to, of.id)) {
        return false;
    }
    message_.of = &of;
    message_.changed_at = of.changed_at;
    message_.count = 0;
    message_.tail = tail_size + 4 * std::size_t{message_.request.result_count};
    encoder& out = writer_.out();
    // Room is made first, so that the number of this message is the last one told as available.
    while (of.sent.count >= bounds_.max_retransmission_messages && sent_.drop_oldest(of.sent)) {
    }
    out.u32(of.sent.count + 1);
    sent_.for_each(of.sent, [&](std::uint32_t sequence) { out.u32(sequence); });
    out.u32(of.next_sequence);
    message_.more_at = out.reserve<std::uint8_t>();
    message_.begin = writer_.position();
    out.u32(of.next_sequence);
    out.i64(date_time_ticks(time_.wall_now()));
    out.u32(1);
    out.numeric_id(0, id::data_change_notification_binary);
    out.u8(1);
    message_.length_at = out.reserve<std::int32_t>();
    message_.data_begin = writer_.position();
    message_.count_at = out.reserve<std::int32_t>();
    return true;
}

// False: the budget is used up, call again.
bool subscriptions::compose(transport::time_point now, transport::turn_budget& budget) {
    subscription& of = *message_.of;
    const std::uint32_t most =
        of.settings.max_notifications == 0
            ? bounds_.max_notifications_per_message
            : std::min(of.settings.max_notifications, bounds_.max_notifications_per_message);
    while (of.first_ready != 0 && message_.count < most) {
        if (!budget.spend()) {
            return false;
        }
        const std::size_t room = writer_.room();
        const auto done =
            items_.write_next(of, writer_.out(), room > message_.tail ? room - message_.tail : 0,
                              message_.count == 0, now);
        if (done == monitor::written::no_room) {
            break;
        }
        message_.count += done == monitor::written::yes ? 1U : 0U;
    }
    if (message_.count == 0) {
        give_up_message();
        return true;
    }
    finish_data(now);
    return true;
}

void subscriptions::finish_data(transport::time_point now) {
    subscription& of = *message_.of;
    encoder& out = writer_.out();
    const bool more = of.publishing_enabled && of.first_ready != 0;
    encoder::patch(message_.count_at, static_cast<std::int32_t>(message_.count));
    out.u32(0);  // diagnosticInfos of the notification
    const std::size_t end = writer_.position();
    encoder::patch(message_.length_at, static_cast<std::int32_t>(end - message_.data_begin));
    encoder::patch(message_.more_at, static_cast<std::uint8_t>(more ? 1 : 0));
    write_results(message_.request);
    writer_.finish();
    keep_for_retransmission(of, end);
    of.next_sequence = of.next_sequence == 0xFFFF'FFFF ? 1 : of.next_sequence + 1;  // E46
    message_sent(of);
    if (!more) {
        stop_waiting_for_publish(of);
    }
    notifications_.add(message_.count);
    message_.of = nullptr;
    if (message_.request.channel != nullptr) {
        message_.request.channel->send_message(writer_, message_.request.request_id, now);
    }
    writer_.close();
    transport::count_operation(opcua_publish, time_.now() - message_.changed_at);
}

void subscriptions::keep_for_retransmission(subscription& of, std::size_t end) noexcept {
    for (bool kept = false; !kept;) {
        retransmission_store::writer copy{sent_};
        writer_.visit(message_.begin, end, [&](bytes_view piece) { copy.append(piece); });
        kept = sent_.keep(of.sent, of.next_sequence, copy, bounds_.max_retransmission_messages);
        if (!kept && !sent_.drop_oldest(of.sent)) {
            return;  // no memory at all: this message cannot be asked for again
        }
    }
}

// Nothing of it leaves; its Publish is held on as if it had not been taken.
void subscriptions::give_up_message() noexcept {
    subscription& of = *message_.of;
    message_.of = nullptr;
    writer_.close();
    publisher& to = publishers_[message_.session_index];
    if (message_.request.channel != nullptr) {
        put_back(to, message_.request);
    }
    if (of.first_ready == 0) {
        stop_waiting_for_publish(of);
        decide(of);
    }
}

// It carries the number of the next notification and is neither kept nor acknowledged (E45).
void subscriptions::send_keep_alive(publisher& to, subscription& of, transport::time_point now) {
    if (!open_message(to, of.id)) {
        return;
    }
    encoder& out = writer_.out();
    write_available(of, out);
    out.boolean(false);
    out.u32(of.next_sequence);
    out.i64(date_time_ticks(time_.wall_now()));
    out.u32(0);  // notificationData
    write_results(message_.request);
    writer_.finish();
    message_sent(of);
    stop_waiting_for_publish(of);
    message_.request.channel->send_message(writer_, message_.request.request_id, now);
    writer_.close();
}

void subscriptions::send_notice(publisher& to, transport::time_point now) {
    const std::uint32_t taken = to.first_notice;
    const notice what = notices_[taken];
    if (!open_message(to, what.subscription_id)) {
        return;
    }
    to.first_notice = what.next;
    to.last_notice = to.first_notice == 0 ? 0 : to.last_notice;
    notices_.give_back(taken);
    encoder& out = writer_.out();
    out.u32(0);  // availableSequenceNumbers: the subscription is another session's or nobody's
    out.boolean(false);
    out.u32(what.sequence);
    out.i64(date_time_ticks(time_.wall_now()));
    out.u32(1);
    out.numeric_id(0, id::status_change_notification_binary);
    out.u8(1);
    std::byte* const length_at = out.reserve<std::int32_t>();
    const std::size_t begin = writer_.position();
    out.u32(what.status);
    out.u8(0);  // diagnosticInfo
    encoder::patch(length_at, static_cast<std::int32_t>(writer_.position() - begin));
    write_results(message_.request);
    writer_.finish();
    message_.request.channel->send_message(writer_, message_.request.request_id, now);
    writer_.close();
    if (to.owned_count == 0 && to.first_notice == 0) {
        answer_all(to, status::bad_no_subscription, now);
    }
}

}  // namespace tagferry::opcua
