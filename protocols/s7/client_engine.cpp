#include "protocols/s7/client_engine.hpp"

#include "protocols/s7/wire/tpkt.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace tagferry::s7 {

namespace {

using transport::close_info;
using transport::close_reason;
using transport::time_point;

constexpr std::uint16_t source_reference = 1;  // some devices do not take 0
constexpr std::uint16_t setup_reference = 0xFFFF;
constexpr std::size_t smallest_tpdu_asked = 1024;  // what every PLC is used to
constexpr std::size_t largest_tpdu_asked = 2048;   // class 0 goes no further
constexpr std::uint8_t class_mask = 0xF0;
// More frames than a PLC can have answers for: only a peer that floods reaches it.
constexpr std::size_t frames_per_turn = 64;

const client_options& checked(const client_options& options, const transport::pinned_pool& pool) {
    const auto within = [](std::size_t value, std::size_t low, std::size_t high) {
        return value >= low && value <= high;
    };
    if (!within(options.pdu_size, smallest_pdu, largest_pdu) ||
        !within(options.max_jobs, 1, job_table::max_window) ||
        !within(options.queued_jobs, 1, max_queued_jobs) ||
        !within(options.max_items, 1, largest_item_count) || options.timeouts_in_a_row == 0 ||
        options.job_timeout <= transport::duration::zero() ||
        options.handshake_timeout <= transport::duration::zero()) {
        throw std::invalid_argument("an option of the S7 client is out of range");
    }
    if (pool.slot_size() < options.pdu_size + envelope_size) {
        throw std::length_error("the slots of the pool are too small for the S7 client's PDU");
    }
    return options;
}

transport::pooled_buffer rent(transport::pinned_pool& pool) {
    auto buffer = pool.rent();
    if (!buffer) {
        throw std::length_error("the pool has too few slots for an S7 client");
    }
    return buffer;
}

transport::operation_kind kind_of(job_kind kind) noexcept {
    return kind == job_kind::read ? s7_read : s7_write;
}

std::size_t padded(std::size_t size) noexcept {
    return size + size % 2;
}

link_reason reason_of(close_reason reason) noexcept {
    switch (reason) {
        case close_reason::peer_closed:
        case close_reason::peer_closed_mid_frame:
            return link_reason::peer_closed;
        case close_reason::protocol_error:
            return link_reason::protocol_error;
        case close_reason::requested:
        case close_reason::shutting_down:
            return link_reason::requested;
        default:
            return link_reason::transport_error;
    }
}

}  // namespace

client_engine::client_engine(const client_options& options, transport::pinned_pool& pool,
                             client_observer& observer)
    : options_(checked(options, pool)),
      observer_(observer),
      jobs_(options.max_jobs + options.queued_jobs, pool),
      joiner_buffer_(rent(pool)),
      joiner_(joiner_buffer_.bytes(), wire_limits{.max_pdu = options.pdu_size}),
      results_(options.max_items) {
    std::array<std::byte, 2> calling{};
    std::array<std::byte, 2> called{};
    transport::store(calling.data(), options_.local_tsap, std::endian::big);
    transport::store(called.data(), options_.remote_tsap, std::endian::big);
    const std::size_t tpdu_size = options_.pdu_size + cotp_data_header_size > smallest_tpdu_asked
                                      ? largest_tpdu_asked
                                      : smallest_tpdu_asked;
    connect_size_ = encode_cotp_connect(connect_message_, cotp_type::connect_request,
                                        {.source_reference = source_reference,
                                         .tpdu_size = tpdu_size,
                                         .calling_tsap = calling,
                                         .called_tsap = called});
    const auto jobs = static_cast<std::uint16_t>(options_.max_jobs);
    setup_size_ =
        encode_setup_request(std::span(setup_message_).subspan(envelope_size), setup_reference,
                             {jobs, jobs, static_cast<std::uint16_t>(options_.pdu_size)});
}

client_engine::~client_engine() = default;

void client_engine::opened(transport::engine_host& host, time_point now) {
    const transport::operation_scope scope(transport::kind_control);
    host_ = &host;
    ending_ = link_reason::none;
    ending_detail_ = 0;
    limits_ = {};
    frame_size_ = 0;
    timeouts_in_a_row_ = 0;
    last_heard_ = now;
    joiner_.reset();
    cutter_.set_tpdu_size(default_tpdu_size);
    handshake_unsent_ = true;
    handshake_deadline_ = now + options_.handshake_timeout;
    state_ = link_state::connecting;
    report_state(link_reason::none, 0);
}

void client_engine::closed(const close_info& info, time_point now) {
    const transport::operation_scope scope(transport::kind_control);
    link_reason reason = ending_ == link_reason::none ? reason_of(info.reason) : ending_;
    if (state_ != link_state::up &&
        (reason == link_reason::peer_closed || reason == link_reason::transport_error)) {
        reason = link_reason::closed_in_handshake;
    }
    host_ = nullptr;
    state_ = link_state::down;
    limits_ = {};
    frame_size_ = 0;
    fail_all(now);
    report_state(reason, ending_detail_);
}

void client_engine::report_state(link_reason reason, std::uint16_t detail) {
    // Whoever hears of it plans its reads now: that is no job's cost.
    const transport::operation_scope scope(transport::kind_control);
    observer_.link_changed({state_, reason, detail, limits_});
}

/// Every job that is still owed an answer gets one: what was sent may have been executed, what
/// was queued was not. By now no message is with the driver any more.
void client_engine::fail_all(time_point now) {
    while (!jobs_.in_flight().empty()) {
        const std::size_t index = jobs_.in_flight().front();
        if (jobs_.slot(index).state == job_state::abandoned) {
            jobs_.release(index);
        } else {
            finish(index, job_outcome::link_lost, 0, now);
        }
    }
    while (const auto index = jobs_.take_queued()) {
        finish(*index, job_outcome::not_sent, 0, now);
    }
    turned_away_ = false;
}

void client_engine::give_up(link_reason reason, std::uint16_t detail, close_reason close) {
    if (ending_ != link_reason::none) {
        return;
    }
    ending_ = reason;
    ending_detail_ = detail;
    host_->abort(close);
}

void client_engine::disconnect() noexcept {
    if (host_ != nullptr && ending_ == link_reason::none) {
        ending_ = link_reason::requested;
        host_->close_after_flush(close_reason::requested);
    }
}

// --- Submitting ---------------------------------------------------------------------------------

/// A slot for a job of these sizes, or nothing when it cannot be taken.
std::optional<std::size_t> client_engine::admit(std::size_t items, std::size_t request,
                                                std::size_t reply) {
    if (state_ != link_state::up || ending_ != link_reason::none || items == 0 ||
        items > options_.max_items || request > limits_.pdu_size || reply > limits_.pdu_size) {
        return std::nullopt;
    }
    const auto index = free_slots() == 0 ? std::nullopt : jobs_.acquire();
    turned_away_ = turned_away_ || !index;
    return index;
}

bool client_engine::submit(job_kind kind, std::uint64_t tag, std::size_t items, std::size_t index,
                           std::size_t request_size) {
    if (request_size == 0) {
        return false;
    }
    job_slot& slot = jobs_.slot(index);
    slot.kind = kind;
    slot.tag = tag;
    slot.item_count = static_cast<std::uint16_t>(items);
    slot.request_size = request_size;
    jobs_.enqueue(index);
    host_->output_ready();
    return true;
}

bool client_engine::submit_read(std::uint64_t tag, std::span<const variable> items) {
    const transport::operation_scope scope(s7_read);
    std::size_t data = 0;
    for (const variable& item : items) {
        if (item.data_size() == 0) {
            return false;
        }
        data = padded(data) + item.data_size();
    }
    const auto index =
        admit(items.size(), read_request_size(items.size()), read_reply_size(items.size(), data));
    if (!index) {
        return false;
    }
    const job_slot& slot = jobs_.slot(*index);
    return submit(job_kind::read, tag, items.size(), *index,
                  encode_read_request(slot.pdu_room(), slot.reference, items));
}

bool client_engine::submit_write(std::uint64_t tag, std::span<const write_item> items) {
    const transport::operation_scope scope(s7_write);
    std::size_t data = 0;
    for (const write_item& item : items) {
        if (item.bytes.empty() || item.bytes.size() != item.target.data_size()) {
            return false;
        }
        data = padded(data) + item.bytes.size();
    }
    const auto index =
        admit(items.size(), write_request_size(items.size(), data), write_reply_size(items.size()));
    if (!index) {
        return false;
    }
    const job_slot& slot = jobs_.slot(*index);
    return submit(job_kind::write, tag, items.size(), *index,
                  encode_write_request(slot.pdu_room(), slot.reference, items));
}

std::size_t client_engine::free_slots() const noexcept {
    if (state_ != link_state::up || ending_ != link_reason::none) {
        return 0;
    }
    const std::size_t waiting_room =
        limits_.window + options_.queued_jobs - jobs_in_flight() - jobs_queued();
    return std::min(waiting_room, jobs_.free_count());
}

std::size_t client_engine::jobs_in_flight() const noexcept {
    return jobs_.in_flight().size();
}

std::size_t client_engine::jobs_queued() const noexcept {
    return jobs_.queued_count();
}

// --- Sending ------------------------------------------------------------------------------------

void client_engine::remember_outstanding(std::uint8_t message) noexcept {
    outstanding_[(outstanding_first_ + outstanding_count_) % max_outstanding] = message;
    ++outstanding_count_;
}

void client_engine::pull(transport::send_batch& batch, time_point now) {
    if (ending_ != link_reason::none) {
        return;
    }
    if (handshake_unsent_) {
        const bool added =
            state_ == link_state::connecting
                ? batch.add(std::span<const std::byte>(connect_message_).first(connect_size_))
                : cutter_.add(batch, std::span(setup_message_).first(envelope_size + setup_size_));
        if (!added) {
            return;
        }
        handshake_unsent_ = false;
        remember_outstanding(handshake_message);
    }
    if (state_ != link_state::up) {
        return;
    }
    while (const auto index = jobs_.next_to_send()) {
        if (!cutter_.add(batch, jobs_.slot(*index).message())) {
            return;
        }
        jobs_.mark_sent(*index, now);
        remember_outstanding(static_cast<std::uint8_t>(*index));
        ++counters_.jobs_sent;
    }
}

void client_engine::written(const transport::write_report& /*report*/) {
    // A failed write ends the connection, and `closed` answers the jobs; here only the buffer
    // comes back.
    const std::uint8_t message = outstanding_[outstanding_first_];
    outstanding_first_ = (outstanding_first_ + 1) % max_outstanding;
    --outstanding_count_;
    if (message != handshake_message) {
        jobs_.mark_written(message);
        offer_capacity();
    }
}

// --- Receiving ----------------------------------------------------------------------------------

transport::receive_result client_engine::receive(std::span<std::byte> bytes, time_point now) {
    std::size_t consumed = 0;
    const std::size_t largest = options_.pdu_size + envelope_size;
    for (std::size_t frames = 0; ending_ == link_reason::none; ++frames) {
        const auto rest = bytes.subspan(consumed);
        const tpkt_frame frame = find_tpkt_frame(rest, largest);
        frame_size_ = frame.size;
        if (frame.state == frame_state::incomplete) {
            break;
        }
        if (frame.state == frame_state::malformed) {
            give_up(link_reason::protocol_error, 0, close_reason::protocol_error);
            break;
        }
        if (frames == frames_per_turn) {
            offer_capacity();
            return {consumed, true};
        }
        take_frame(rest.first(frame.size), now);
        consumed += frame.size;
        frame_size_ = 0;
    }
    offer_capacity();
    return {ending_ == link_reason::none ? consumed : bytes.size(), false};
}

void client_engine::take_frame(std::span<const std::byte> frame, time_point now) {
    cotp_tpdu tpdu;
    if (!decode_cotp(frame.subspan(tpkt_header_size), tpdu)) {
        return give_up(link_reason::protocol_error, 0, close_reason::protocol_error);
    }
    if (tpdu.type == cotp_type::disconnect_request || tpdu.type == cotp_type::error ||
        tpdu.type == cotp_type::disconnect_confirm) {
        return give_up(
            state_ == link_state::up ? link_reason::disconnected : link_reason::connection_refused,
            tpdu.reason, close_reason::peer_closed);
    }
    if (state_ == link_state::connecting && tpdu.type == cotp_type::connect_confirm) {
        return take_confirm(tpdu, now);
    }
    if (state_ == link_state::connecting || tpdu.type != cotp_type::data) {
        return give_up(link_reason::protocol_error, 0, close_reason::protocol_error);
    }
    switch (joiner_.add(tpdu)) {
        case fragment_joiner::outcome::ignored:
        case fragment_joiner::outcome::incomplete:
            return;
        case fragment_joiner::outcome::too_large:
            return give_up(link_reason::protocol_error, 0, close_reason::protocol_error);
        case fragment_joiner::outcome::complete:
            break;
    }
    s7_message message;
    if (!decode_message(joiner_.pdu(), message)) {
        // The first byte tells a newer protocol of the same maker (0x72) from rubbish.
        return give_up(link_reason::protocol_error,
                       std::to_integer<std::uint16_t>(joiner_.pdu()[0]),
                       close_reason::protocol_error);
    }
    if (message.type != message_type::ack && message.type != message_type::ack_data) {
        ++counters_.replies_foreign;
    } else if (state_ == link_state::negotiating) {
        take_setup_reply(message, now);
    } else {
        take_reply(message, now);
    }
}

void client_engine::take_confirm(const cotp_tpdu& tpdu, time_point now) {
    if ((tpdu.class_option & class_mask) != 0) {
        return give_up(link_reason::setup_unusable, tpdu.class_option,
                       close_reason::protocol_error);
    }
    limits_.tpdu_size = tpdu.tpdu_size.value_or(default_tpdu_size);
    cutter_.set_tpdu_size(limits_.tpdu_size);
    state_ = link_state::negotiating;
    handshake_unsent_ = true;
    handshake_deadline_ = now + options_.handshake_timeout;
    report_state(link_reason::none, 0);
}

void client_engine::take_setup_reply(const s7_message& message, time_point /*now*/) {
    if (message.reference != setup_reference) {
        ++counters_.replies_foreign;
        return;
    }
    setup_parameters setup;
    if (message.error != 0) {
        return give_up(link_reason::setup_refused, message.error, close_reason::refused);
    }
    if (message.type != message_type::ack_data || !decode_setup(message.parameters, setup)) {
        return give_up(link_reason::setup_unusable, 0, close_reason::protocol_error);
    }
    limits_.pdu_size = std::min(options_.pdu_size, std::size_t{setup.pdu_size});
    limits_.window = std::min(
        {options_.max_jobs, std::size_t{setup.calling_jobs}, std::size_t{setup.called_jobs}});
    if (limits_.pdu_size < smallest_pdu || limits_.window == 0) {
        return give_up(link_reason::setup_unusable, setup.pdu_size, close_reason::protocol_error);
    }
    jobs_.set_window(limits_.window);
    state_ = link_state::up;
    ++counters_.handshakes;
    report_state(link_reason::none, 0);
}

void client_engine::take_reply(const s7_message& message, time_point now) {
    last_heard_ = now;
    const auto index = jobs_.find(message.reference);
    if (!index) {
        ++counters_.replies_foreign;
        return;
    }
    timeouts_in_a_row_ = 0;
    const job_slot& slot = jobs_.slot(*index);
    if (slot.state == job_state::abandoned) {
        ++counters_.replies_late;
        jobs_.release(*index);
        return;
    }
    const transport::operation_scope scope(kind_of(slot.kind));
    finish(*index, judge_reply(slot, message), message.error, now);
}

job_outcome client_engine::judge_reply(const job_slot& slot, const s7_message& message) {
    if (message.error != 0) {
        return job_outcome::refused;
    }
    const auto function =
        slot.kind == job_kind::read ? function_code::read_variable : function_code::write_variable;
    constexpr std::size_t parameter_size = 2;
    if (message.type != message_type::ack_data || message.parameters.size() != parameter_size ||
        message.function() != static_cast<std::uint8_t>(function) ||
        std::to_integer<std::size_t>(message.parameters[1]) != slot.item_count) {
        return job_outcome::reply_unusable;
    }
    const bool usable =
        slot.kind == job_kind::read ? read_items(slot, message) : write_items(slot, message);
    return usable ? job_outcome::answered : job_outcome::reply_unusable;
}

/// Fills `results_` from a read reply; what was asked is read from the request itself.
bool client_engine::read_items(const job_slot& slot, const s7_message& message) {
    s7_message request;
    if (!decode_message(slot.request(), request)) {
        return false;
    }
    request_items asked(request.parameters);
    data_items answers(message.data, slot.item_count, data_items::kind::read_reply);
    for (std::size_t i = 0; i < slot.item_count; ++i) {
        variable item;
        bool supported = false;
        data_item answer;
        if (!asked.next(item, supported) || !answers.next(answer)) {
            return false;
        }
        if (answer.code == item_code::success && answer.bytes.size() != item.data_size()) {
            return false;
        }
        results_[i] = {answer.code, answer.bytes};
    }
    return answers.finished();
}

bool client_engine::write_items(const job_slot& slot, const s7_message& message) {
    if (message.data.size() != slot.item_count) {
        return false;
    }
    for (std::size_t i = 0; i < slot.item_count; ++i) {
        results_[i] = {static_cast<item_code>(message.data[i]), {}};
    }
    return true;
}

/// The one place where a job ends. Its slot is free before the observer is told, so that the next
/// job may take it.
void client_engine::finish(std::size_t index, job_outcome outcome, std::uint16_t error,
                           time_point now) {
    const job_slot& slot = jobs_.slot(index);
    job_result result{slot.kind, slot.tag, outcome, error, {}, slot.sent, now};
    switch (outcome) {
        case job_outcome::answered:
            result.items = std::span(results_).first(slot.item_count);
            ++counters_.jobs_answered;
            break;
        case job_outcome::refused:
            ++counters_.jobs_refused;
            break;
        case job_outcome::reply_unusable:
            ++counters_.replies_unusable;
            break;
        case job_outcome::timed_out:
            ++counters_.jobs_timed_out;
            break;
        case job_outcome::link_lost:
        case job_outcome::not_sent:
            ++counters_.jobs_lost;
            break;
    }
    if (outcome == job_outcome::timed_out) {
        jobs_.abandon(index);
    } else {
        jobs_.release(index);
    }
    if (outcome == job_outcome::answered || outcome == job_outcome::refused ||
        outcome == job_outcome::reply_unusable) {
        transport::count_operation(kind_of(result.kind), now - result.sent);
    }
    observer_.job_finished(result);
}

void client_engine::offer_capacity() {
    if (turned_away_ && free_slots() != 0) {
        turned_away_ = false;
        observer_.capacity_available();
    }
}

// --- Time ---------------------------------------------------------------------------------------

time_point client_engine::deadline() const noexcept {
    if (host_ == nullptr || ending_ != link_reason::none) {
        return time_point::max();
    }
    if (state_ != link_state::up) {
        return handshake_deadline_;
    }
    for (const std::uint8_t index : jobs_.in_flight()) {
        if (jobs_.slot(index).state == job_state::sent) {
            return jobs_.slot(index).sent + options_.job_timeout;  // the oldest stands first
        }
    }
    return time_point::max();
}

void client_engine::expire(time_point now) {
    if (deadline() > now) {
        return;
    }
    if (state_ != link_state::up) {
        return give_up(link_reason::handshake_timeout, 0, close_reason::timed_out);
    }
    bool silent = false;
    // An abandoned job stays in flight, so that the list does not move.
    for (std::size_t i = 0; i < jobs_.in_flight().size(); ++i) {
        const std::size_t index = jobs_.in_flight()[i];
        const job_slot& slot = jobs_.slot(index);
        if (slot.state == job_state::sent && slot.sent + options_.job_timeout <= now) {
            ++timeouts_in_a_row_;
            silent = silent || last_heard_ <= slot.sent;
            const transport::operation_scope scope(kind_of(slot.kind));
            finish(index, job_outcome::timed_out, 0, now);
        }
    }
    // One lost answer beside a live link costs one place of the window. Nothing heard at all while
    // a job waited, or most of the window lost, means that the link is dead or of little use.
    if (silent || timeouts_in_a_row_ >= options_.timeouts_in_a_row ||
        2 * jobs_.in_flight_abandoned() > limits_.window) {
        give_up(link_reason::job_timeouts, 0, close_reason::timed_out);
    }
}

void client_engine::resume(transport::completion_token /*token*/, std::uint32_t /*result*/,
                           time_point /*now*/) {
    // The client starts nothing that is finished by somebody else.
}

}  // namespace tagferry::s7
