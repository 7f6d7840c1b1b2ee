#include "protocols/s7/simulator/server_engine.hpp"

#include "protocols/s7/wire/tpkt.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tagferry::s7 {

namespace {

using transport::time_point;

constexpr std::uint16_t own_reference = 3;
constexpr std::size_t largest_tpdu = 2048;
constexpr std::size_t frames_per_turn = 64;
// Handshake answers need no more than a job's; jobs over the window find a few places more, and
// are then not read until answers have left.
constexpr std::size_t spare_replies = 4;
constexpr std::uint8_t class_mask = 0xF0;
constexpr std::size_t reference_offset = 4;  // in any S7 header
// A PDU of the largest size is then at most what a batch takes in one message.
constexpr std::size_t smallest_fragment = 67;

bool is_setup(const s7_message& job) noexcept {
    return job.function() == static_cast<std::uint8_t>(function_code::setup);
}

/// What a fault makes of item `index` of `count`.
item_code forced_code(const job_fate& fate, std::size_t index, std::size_t count) noexcept {
    const bool met = fate.failing_item == job_fate::all_items || fate.failing_item % count == index;
    return met ? fate.item_error : item_code::success;
}

}  // namespace

server_engine::server_engine(simulated_plc& plc)
    : plc_(plc),
      pdu_size_(plc.profile().pdu_size),
      memory_(largest_pdu +
              (pdu_size_ + envelope_size) * (plc.profile().calling_jobs + spare_replies)),
      replies_(plc.profile().calling_jobs + spare_replies),
      outstanding_(replies_.size()),
      // A request over the granted PDU is to be refused in words, and so has to be taken whole.
      joiner_(std::span(memory_).first(largest_pdu), wire_limits{.max_pdu = largest_pdu}) {
    std::span<std::byte> rest = std::span(memory_).subspan(largest_pdu);
    for (reply& one : replies_) {
        one.buffer = rest.first(pdu_size_ + envelope_size);
        rest = rest.subspan(one.buffer.size());
    }
}

server_engine::~server_engine() = default;

void server_engine::opened(transport::engine_host& host, time_point now) {
    host_ = &host;
    stage_ = stage::connecting;
    ending_ = false;
    pdu_size_ = plc_.profile().pdu_size;
    busy_until_ = {};
    dribbling_ = nullptr;
    joiner_.reset();
    tpdu_size_ = default_tpdu_size;
    for (reply& one : replies_) {
        one.state = reply_state::free;
    }
    const bool room = plc_.engines_.size() < plc_.config_.max_connections;
    if (room) {
        plc_.engines_.push_back(this);
    }
    const connection_fate fate =
        plc_.faults_ != nullptr ? plc_.faults_->accept_connection(now) : connection_fate::serve;
    if (!room || fate == connection_fate::refuse) {
        ++plc_.counters_.connections_refused;
        drop();
        return;
    }
    stage_ = fate == connection_fate::ignore ? stage::deaf : stage_;
    ++plc_.counters_.connections;
}

void server_engine::closed(const transport::close_info& /*info*/, time_point /*now*/) {
    std::erase(plc_.engines_, this);
    timer_.cancel();
    host_ = nullptr;
    stage_ = stage::closed;
    outstanding_count_ = 0;
}

void server_engine::drop() noexcept {
    if (host_ != nullptr && !ending_) {
        ending_ = true;
        host_->abort(transport::close_reason::requested);
    }
}

// --- Receiving ----------------------------------------------------------------------------------

transport::receive_result server_engine::receive(std::span<std::byte> bytes, time_point now) {
    if (stage_ == stage::deaf) {
        return {bytes.size(), false};
    }
    std::size_t consumed = 0;
    for (std::size_t frames = 0; !ending_; ++frames) {
        const auto rest = bytes.subspan(consumed);
        const tpkt_frame frame = find_tpkt_frame(rest, largest_pdu + envelope_size);
        if (frame.state == frame_state::incomplete || free_reply() == nullptr) {
            break;
        }
        if (frame.state == frame_state::complete && frames == frames_per_turn) {
            return {consumed, true};
        }
        if (frame.state == frame_state::malformed || !take_frame(rest.first(frame.size), now)) {
            drop();
            break;
        }
        consumed += frame.size;
    }
    schedule();
    return {ending_ ? bytes.size() : consumed, false};
}

transport::input_wish server_engine::wants_input() const noexcept {
    const bool room = std::any_of(replies_.begin(), replies_.end(),
                                  [](const reply& one) { return one.state == reply_state::free; });
    return {room || ending_, 0};
}

/// False when the peer broke the protocol.
bool server_engine::take_frame(std::span<const std::byte> frame, time_point now) {
    cotp_tpdu tpdu;
    if (!decode_cotp(frame.subspan(tpkt_header_size), tpdu)) {
        return false;
    }
    if (stage_ == stage::connecting) {
        return take_connect(tpdu, now);
    }
    if (tpdu.type != cotp_type::data) {
        return false;
    }
    switch (joiner_.add(tpdu)) {
        case fragment_joiner::outcome::ignored:
        case fragment_joiner::outcome::incomplete:
            return true;
        case fragment_joiner::outcome::complete:
            return take_message(joiner_.pdu(), now);
        case fragment_joiner::outcome::too_large:
            break;
    }
    return false;
}

bool server_engine::take_connect(const cotp_tpdu& tpdu, time_point now) {
    if (tpdu.type != cotp_type::connect_request || (tpdu.class_option & class_mask) != 0) {
        return false;
    }
    const std::size_t limit = plc_.config_.tpdu_size == 0 ? largest_tpdu : plc_.config_.tpdu_size;
    tpdu_size_ = std::min(tpdu.tpdu_size.value_or(default_tpdu_size), limit);
    stage_ = stage::negotiating;
    reply& answer = *free_reply();
    const std::size_t size = encode_cotp_connect(answer.buffer, cotp_type::connect_confirm,
                                                 {.destination_reference = tpdu.source_reference,
                                                  .source_reference = own_reference,
                                                  .tpdu_size = tpdu_size_,
                                                  .calling_tsap = tpdu.calling_tsap,
                                                  .called_tsap = tpdu.called_tsap});
    answer.is_packet = true;
    queue(answer, size, now);
    return size != 0;
}

bool server_engine::take_message(std::span<const std::byte> pdu, time_point now) {
    s7_message job;
    if (!decode_message(pdu, job)) {
        return false;
    }
    if (job.type != message_type::job && job.type != message_type::userdata) {
        return true;  // an answer to nothing
    }
    if (stage_ == stage::negotiating && !is_setup(job)) {
        return false;
    }
    plc_.count(job);
    const job_fate fate = plc_.faults_ != nullptr ? plc_.faults_->judge(job, now) : job_fate{};
    using action = job_fate::action;
    if (fate.what == action::lose || fate.what == action::lose_and_drop) {
        answer(job, fate, free_reply()->buffer.subspan(envelope_size).first(pdu_size_));
    }
    if (fate.what == action::drop || fate.what == action::lose_and_drop) {
        drop();
    } else if (fate.what == action::answer || fate.what == action::refuse) {
        queue_answer(job, fate, pdu.size(), now);
    }
    return true;
}

/// @param pdu_size of the job: one over what was granted is refused.
void server_engine::queue_answer(const s7_message& job, const job_fate& fate, std::size_t pdu_size,
                                 time_point now) {
    reply& first = *free_reply();
    const auto room = first.buffer.subspan(envelope_size);
    std::size_t size = 0;
    if (fate.what == job_fate::action::refuse) {
        size = encode_ack(room, job.reference, fate.error);
    } else if (pdu_size > pdu_size_) {
        size = encode_ack(room, job.reference, error_pdu_size);
    } else {
        size = answer(job, fate, room.first(pdu_size_));
    }
    const time_point begun = plc_.config_.serial ? std::max(now, busy_until_) : now;
    const time_point due =
        begun + fate.delay + (is_setup(job) ? transport::duration::zero() : plc_.config_.latency);
    busy_until_ = due;
    first.is_packet = false;
    first.cutter.set_tpdu_size(tpdu_size_);
    queue(first, envelope_size + size, due);
    transport::store(room.data() + reference_offset,
                     static_cast<std::uint16_t>(job.reference ^ fate.reference_flip),
                     std::endian::big);
    spoil(first, fate);
}

/// What a fault does to an answer that is queued.
void server_engine::spoil(reply& answer, const job_fate& fate) {
    if (fate.dribble > transport::duration::zero()) {
        put_data_header(answer.buffer.first<envelope_size>(), answer.size - envelope_size, true);
        answer.dribble = fate.dribble;
    }
    if (fate.fragment_size != 0) {
        answer.cutter.set_tpdu_size(std::clamp(fate.fragment_size, smallest_fragment, tpdu_size_));
    }
    if (fate.hold > transport::duration::zero()) {
        answer.held = true;
        answer.due += fate.hold;
    }
    pair_up(answer);
    if (fate.twice) {
        copy(answer);
    }
}

/// Queues the same message once more, if there is room for it.
void server_engine::copy(const reply& answer) {
    reply* const second = free_reply();
    if (second != nullptr) {
        std::copy_n(answer.buffer.begin(), answer.size, second->buffer.begin());
        second->is_packet = false;
        second->cutter = answer.cutter;
        queue(*second, answer.size, answer.due);
    }
}

// --- Answering ----------------------------------------------------------------------------------

std::size_t server_engine::answer(const s7_message& job, const job_fate& fate,
                                  std::span<std::byte> to) {
    std::size_t size = 0;
    if (job.type == message_type::job) {
        switch (static_cast<function_code>(job.function())) {
            case function_code::setup:
                return answer_setup(job, to);
            case function_code::read_variable:
                size = answer_read(job, fate, to);
                break;
            case function_code::write_variable:
                size = answer_write(job, fate, to);
                break;
        }
    }
    return size != 0 ? size : encode_ack(to, job.reference, error_service_not_implemented);
}

std::size_t server_engine::answer_setup(const s7_message& job, std::span<std::byte> to) {
    setup_parameters setup;
    if (!decode_setup(job.parameters, setup)) {
        return encode_ack(to, job.reference, error_service_not_implemented);
    }
    const plc_profile& profile = plc_.profile();
    setup.calling_jobs = std::min(setup.calling_jobs, profile.calling_jobs);
    setup.called_jobs = std::min(setup.called_jobs, profile.called_jobs);
    setup.pdu_size = std::min(setup.pdu_size, profile.pdu_size);
    if (plc_.faults_ != nullptr) {
        const std::size_t limit = plc_.faults_->pdu_limit(plc_.clock_.now());
        setup.pdu_size = static_cast<std::uint16_t>(std::min<std::size_t>(setup.pdu_size, limit));
    }
    if (setup.pdu_size < smallest_pdu || setup.calling_jobs == 0) {
        return encode_ack(to, job.reference, error_pdu_size);
    }
    pdu_size_ = setup.pdu_size;
    stage_ = stage::up;
    return encode_setup_reply(to, job.reference, setup);
}

std::size_t server_engine::answer_read(const s7_message& job, const job_fate& fate,
                                       std::span<std::byte> to) {
    request_items items(job.parameters);
    if (!items.ok()) {
        return 0;
    }
    read_reply_builder builder(to, job.reference, items.count());
    variable item;
    bool supported = false;
    for (std::size_t i = 0; items.next(item, supported); ++i) {
        item_code code = item_code::not_supported;
        const auto bytes = supported ? plc_.read(item, code) : std::span<const std::byte>{};
        const item_code forced = forced_code(fate, i, items.count());
        code = forced == item_code::success ? code : forced;
        if (code == item_code::success) {
            const auto room = builder.succeed(item);
            // What does not fit into the reply fails as this item, not as the job.
            code = room.empty() ? item_code::access_denied : code;
            std::copy_n(bytes.begin(), room.size(), room.begin());
        }
        if (code != item_code::success) {
            ++plc_.counters_.items_failed;
            builder.fail(code);
        } else {
            plc_.item_was_read(item, bytes);
        }
    }
    const std::size_t size = builder.finish();
    return size != 0 ? size : encode_ack(to, job.reference, error_pdu_size);
}

std::size_t server_engine::answer_write(const s7_message& job, const job_fate& fate,
                                        std::span<std::byte> to) {
    request_items items(job.parameters);
    if (!items.ok()) {
        return 0;
    }
    // Nothing is written unless every item's data is there.
    data_items check(job.data, items.count(), data_items::kind::write_request);
    data_item data;
    while (check.next(data)) {
    }
    if (!check.finished()) {
        return 0;
    }
    std::array<item_code, largest_item_count> codes{};
    data_items values(job.data, items.count(), data_items::kind::write_request);
    variable item;
    bool supported = false;
    for (std::size_t i = 0; items.next(item, supported) && values.next(data); ++i) {
        const item_code forced = forced_code(fate, i, items.count());
        codes[i] = forced != item_code::success ? forced
                   : supported                  ? plc_.write(item, data.bytes)
                                                : item_code::not_supported;
        plc_.counters_.items_failed += codes[i] == item_code::success ? 0U : 1U;
    }
    return encode_write_reply(to, job.reference, std::span(codes).first(items.count()));
}

// --- Sending ------------------------------------------------------------------------------------

server_engine::reply* server_engine::free_reply() noexcept {
    const auto found = std::find_if(replies_.begin(), replies_.end(), [](const reply& one) {
        return one.state == reply_state::free;
    });
    return found == replies_.end() ? nullptr : &*found;
}

/// The waiting answer that is due first; those due at the same time in the order of their jobs.
server_engine::reply* server_engine::earliest_waiting() noexcept {
    reply* earliest = nullptr;
    for (reply& one : replies_) {
        if (one.state == reply_state::waiting &&
            (earliest == nullptr || one.due < earliest->due ||
             (one.due == earliest->due && one.order < earliest->order))) {
            earliest = &one;
        }
    }
    return earliest;
}

void server_engine::queue(reply& answer, std::size_t size, time_point due) {
    answer.state = reply_state::waiting;
    answer.dribble = {};
    answer.dribbled = 0;
    answer.held = false;
    answer.size = size;
    answer.due = due;
    answer.ready = due;
    answer.order = order_++;
    const auto waiting = static_cast<std::size_t>(
        std::count_if(replies_.begin(), replies_.end(),
                      [](const reply& one) { return one.state == reply_state::waiting; }));
    plc_.counters_.most_in_flight = std::max(plc_.counters_.most_in_flight, waiting);
}

/// Gives the driver an answer, or the next byte of one that dribbles. False: the batch is full.
bool server_engine::hand_over(reply& answer, transport::send_batch& batch) noexcept {
    const auto message = answer.buffer.first(answer.size);
    if (answer.dribble > transport::duration::zero()) {
        if (!batch.add(message.subspan(answer.dribbled, 1))) {
            return false;
        }
        ++answer.dribbled;
        dribbling_ = &answer;
        return true;
    }
    return answer.is_packet ? batch.add(message) : answer.cutter.add(batch, message);
}

/// Answers that were held back leave together with one that has come since.
void server_engine::pair_up(reply& newcomer) noexcept {
    for (reply& one : replies_) {
        if (&one == &newcomer || one.state != reply_state::waiting || !one.held) {
            continue;
        }
        const time_point both = std::max(one.ready, newcomer.ready);
        one.due = both;
        one.held = false;
        newcomer.due = both;
        newcomer.held = false;
    }
}

/// One that was held back in vain leaves with its own copy.
void server_engine::end_holding(time_point now) {
    for (reply& one : replies_) {
        if (one.state == reply_state::waiting && one.held && one.due <= now) {
            one.held = false;
            copy(one);
        }
    }
}

void server_engine::pull(transport::send_batch& batch, time_point now) {
    end_holding(now);
    while (!ending_) {
        reply* const next = dribbling_ != nullptr ? dribbling_ : earliest_waiting();
        if (next == nullptr || next->state != reply_state::waiting || next->due > now) {
            break;
        }
        if (!hand_over(*next, batch)) {
            return;
        }
        next->state = reply_state::with_driver;
        outstanding_[(outstanding_first_ + outstanding_count_) % outstanding_.size()] = next;
        ++outstanding_count_;
    }
    schedule();
}

void server_engine::written(const transport::write_report& /*report*/) {
    reply& answer = *outstanding_[outstanding_first_];
    outstanding_first_ = (outstanding_first_ + 1) % outstanding_.size();
    --outstanding_count_;
    if (&answer == dribbling_ && answer.dribbled < answer.size) {
        answer.state = reply_state::waiting;
        answer.due += answer.dribble;
        if (answer.due <= plc_.clock_.now()) {
            wake({});
        }
        schedule();
        return;
    }
    dribbling_ = &answer == dribbling_ ? nullptr : dribbling_;
    answer.state = reply_state::free;
}

void server_engine::schedule() noexcept {
    const reply* const next = dribbling_ != nullptr ? dribbling_ : earliest_waiting();
    if (plc_.wheel_ != nullptr && next != nullptr && !ending_) {
        plc_.wheel_->schedule(timer_, next->due);
    }
}

void server_engine::wake(time_point /*now*/) {
    if (host_ != nullptr) {
        host_->output_ready();
    }
}

time_point server_engine::deadline() const noexcept {
    time_point due = time_point::max();
    for (const reply& one : replies_) {
        due = one.state == reply_state::waiting ? std::min(due, one.due) : due;
    }
    return due;
}

void server_engine::expire(time_point now) {
    wake(now);
}

void server_engine::resume(transport::completion_token /*token*/, std::uint32_t /*result*/,
                           time_point /*now*/) {
    // The simulator starts nothing that is finished by somebody else.
}

}  // namespace tagferry::s7
