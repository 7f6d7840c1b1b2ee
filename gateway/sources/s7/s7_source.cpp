#include "gateway/sources/s7/s7_source.hpp"

#include "transport/net/name_lookup.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace tagferry::gateway {
namespace {

std::string_view words_of(connect_failure failure) noexcept {
    switch (failure) {
        case connect_failure::none:
            return "no connection to the PLC";
        case connect_failure::unknown_name:
            return "the host's name does not resolve: correct it, or use the numeric address";
        case connect_failure::silent_name_server:
            return "no name server answers for the host's name: check this machine's name service, "
                   "or use the numeric address";
        case connect_failure::refused:
            return "the host refuses the connection: check address and port, and whether the PLC "
                   "offers S7 communication";
        case connect_failure::unreachable:
            return "the host cannot be reached: check address, cable and this machine's routes";
        case connect_failure::timed_out:
            return "no answer from the host in time: check its address, power and cable, and "
                   "firewalls between";
        case connect_failure::not_possible:
            break;
    }
    return "this machine cannot open a connection: it may have run out of descriptors or ports";
}

bool is_trying(source_state state) noexcept {
    return state == source_state::connecting || state == source_state::waiting;
}

connect_failure failure_of(std::error_code error) noexcept {
    if (transport::is_silent_name_server(error)) {
        return connect_failure::silent_name_server;
    }
    if (transport::is_unknown_name(error)) {
        return connect_failure::unknown_name;
    }
    if (error == std::errc::connection_refused || error == std::errc::connection_reset) {
        return connect_failure::refused;
    }
    if (error == std::errc::timed_out) {
        return connect_failure::timed_out;
    }
    const bool unreachable =
        error == std::errc::host_unreachable || error == std::errc::network_unreachable ||
        error == std::errc::network_down || error == std::errc::address_not_available ||
        error.value() == EHOSTDOWN;
    return unreachable ? connect_failure::unreachable : connect_failure::not_possible;
}

}  // namespace

s7_source::s7_source(transport::shard& owner, transport::worker_pool& resolver,
                     transport::pinned_pool& pool, tag_table& table, tag_table::owner_id owner_id,
                     const s7_source_options& options)
    : shard_(owner),
      options_(options),
      writer_(table, owner_id, owner.index()),
      engine_(options.client, pool, *this),
      reads_(options.pending_device_reads),
      writes_(options.pending_writes, options.client.max_items),
      link_(owner, resolver, options.link, engine_, this) {}

s7_source::~s7_source() = default;

// --- The link -----------------------------------------------------------------------------------

void s7_source::start() {
    running_ = true;
    marked_down_ = false;
    mark_reason_ = reason_id::link_down;
    set_state(source_state::connecting);
    shard_.add(static_cast<transport::sweep_participant&>(*this));
    link_.start();
}

void s7_source::stop() {
    running_ = false;
    for (const auto& each : scans_) {
        each->cancel();
    }
    shard_.remove(static_cast<transport::sweep_participant&>(*this));
    link_.stop();
    // An open link marks them when it has closed; one that was down has nothing to close.
    if (engine_.state() != s7::link_state::up && mark_reason_ != reason_id::shutting_down) {
        begin_marking(reason_id::shutting_down);
    }
}

bool s7_source::stopped() const noexcept {
    return link_.status().state == transport::link_state::stopped && !marking_ && !reads_.any() &&
           writes_.empty();
}

void s7_source::set_state(source_state state) noexcept {
    const source_state before = shown_.state.load(std::memory_order_relaxed);
    if (before == state) {
        return;
    }
    shown_.state.store(state, std::memory_order_relaxed);
    // A device stays unreachable from one attempt to the next: since when is what people ask.
    if (!is_trying(before) || !is_trying(state)) {
        shown_.since.store(shard_.time_source().wall_now(), std::memory_order_relaxed);
    }
    if (options_.observer != nullptr) {
        options_.observer->source_changed(*this, before);
    }
}

void s7_source::link_changed(const transport::link_status& status) {
    const transport::operation_scope scope(transport::kind_control);
    switch (status.state) {
        case transport::link_state::resolving:
        case transport::link_state::connecting:
            opened_ = false;
            set_state(source_state::connecting);
            break;
        case transport::link_state::waiting:
            if (status.attempts == 0) {
                set_state(source_state::connecting);  // the first attempt is about to begin
                break;
            }
            if (!opened_) {
                shown_.s7_reason = 0;
                shown_.failure = failure_of(status.last_close.error);
                shown_.connect_failures.fetch_add(1, std::memory_order_relaxed);
                went_down();
            }
            set_state(source_state::waiting);
            break;
        case transport::link_state::stopped:
            set_state(source_state::stopped);
            break;
        case transport::link_state::up:
        case transport::link_state::stopping:
            break;
    }
    const bool waiting = status.next_attempt != transport::time_point::max();
    const auto wait = waiting ? status.next_attempt - shard_.now() : transport::duration{};
    shown_.next_attempt =
        waiting ? shard_.time_source().wall_now() + std::chrono::nanoseconds(wait).count() : 0;
}

void s7_source::link_changed(const s7::link_event& event) {
    const transport::operation_scope scope(transport::kind_control);
    switch (event.state) {
        case s7::link_state::connecting:
            opened_ = true;
            break;
        case s7::link_state::negotiating:
            break;
        case s7::link_state::up:
            came_up(event);
            break;
        case s7::link_state::down:
            shown_.s7_reason = static_cast<std::uint8_t>(event.reason);
            if (shown_.pdu_size.exchange(0, std::memory_order_relaxed) == 0) {
                shown_.connect_failures.fetch_add(1, std::memory_order_relaxed);
            }
            shown_.window = 0;
            went_down();
            break;
    }
}

void s7_source::came_up(const s7::link_event& event) {
    marking_ = false;
    marked_down_ = false;
    shown_.s7_reason = 0;
    shown_.pdu_size = static_cast<std::uint32_t>(event.limits.pdu_size);
    shown_.window = static_cast<std::uint32_t>(event.limits.window);
    shown_.connects.fetch_add(1, std::memory_order_relaxed);
    set_state(source_state::up);
    next_sweep_ = shard_.now();
    device_jobs_in_flight_ = 0;
    plan_all({});
}

void s7_source::went_down() {
    next_sweep_ = transport::time_point::max();
    job_alarm_.cancel();
    for (const auto& each : scans_) {
        each->cancel();
        each->cycling = false;
        each->set.forget_parts();
    }
    reads_.end_all(device_read_result::no_communication);
    writes_.end_all(shard_.now());
    shown_.lag.store({}, std::memory_order_relaxed);  // nothing is due without a link
    if (!marked_down_) {
        begin_marking(running_ ? reason_id::link_down : reason_id::shutting_down);
    }
}

void s7_source::begin_marking(reason_id reason) {
    marking_ = true;
    marked_down_ = true;
    mark_scan_ = 0;
    mark_entry_ = 0;
    mark_reason_ = reason;
    mark_some();
}

void s7_source::mark_some() {
    const publication to = publication_at(shard_.now());
    const bool keep = options_.keep_value_on_link_loss && mark_reason_ == reason_id::link_down;
    if (mark_scan_ < scans_.size() &&
        scans_[mark_scan_]->set.mark(mark_entry_, marks_per_turn, mark_reason_, keep, to)) {
        mark_entry_ += marks_per_turn;
    } else {
        ++mark_scan_;
        mark_entry_ = 0;
    }
    marking_ = mark_scan_ < scans_.size();
    if (marking_) {
        shard_.at_next_turn(*this);
    }
}

void s7_source::next_turn(transport::time_point /*now*/) {
    if (marking_) {
        mark_some();
    }
    if (engine_.state() != s7::link_state::up) {
        reads_.end_all(device_read_result::no_communication);
        writes_.end_all(shard_.now());
    } else {
        reads_.end_empty();
        pump();
    }
}

publication s7_source::publication_at(transport::time_point arrived) noexcept {
    const transport::wall_time_ns now = shard_.time_source().wall_now();
    const auto age = std::chrono::nanoseconds(shard_.now() - arrived).count();
    return {writer_, *this, arrived, now - age, now, &item_errors_, &bytes_read_};
}

// --- Requests -----------------------------------------------------------------------------------

const scan_set::entry* s7_source::find(tag_handle tag, std::size_t& scan_index) const noexcept {
    const auto place = places_.find(tag.index);
    if (place == places_.end()) {
        return nullptr;
    }
    scan_index = static_cast<std::size_t>(place->second >> 32U);
    const scan_set::entry& found = scans_[scan_index]->set.entries()[place->second & 0xFFFFFFFFU];
    return found.handle == tag ? &found : nullptr;
}

bool s7_source::read(std::span<const tag_handle> tags, std::uint64_t ticket,
                     device_read_listener& listener) {
    const auto begun = reads_.begin(ticket, listener);
    if (!begun) {
        return false;
    }
    for (const tag_handle tag : tags) {
        std::size_t index = 0;
        const scan_set::entry* const entry = find(tag, index);
        if (entry == nullptr || entry->parts == 0 || engine_.state() != s7::link_state::up) {
            continue;
        }
        for (std::size_t job = entry->first_job; job <= entry->last_job; ++job) {
            reads_.want(*begun, scans_[index]->first_job + job);
        }
    }
    // Sent in another turn, so that reads of this one share jobs, and so that the caller is not
    // told on its own stack of what ends at once.
    shard_.at_next_turn(*this);
    return true;
}

reason_id s7_source::write(const source_write& write, std::uint64_t ticket,
                           write_listener& listener) {
    std::size_t index = 0;
    const scan_set::entry* const entry = find(write.tag, index);
    if (entry == nullptr) {
        return reason_id::tag_removed;
    }
    if (!entry->writable) {
        return reason_id::write_read_only;
    }
    if (engine_.state() != s7::link_state::up) {
        return reason_id::write_not_sent;
    }
    const reason_id refused = writes_.accept(*entry, scans_[index]->set.text_maxima(*entry), write,
                                             ticket, listener, shard_.now());
    if (refused == reason_id::none) {
        // Sent in another turn, so that nobody is told anything on the caller's stack.
        shard_.at_next_turn(*this);
    }
    return refused;
}

bool s7_source::browse(std::string_view /*address*/, browse_listener& /*listener*/) {
    return false;  // the classic protocol knows blocks, not symbols
}

source_status s7_source::status() const noexcept {
    source_status seen;
    seen.state = shown_.state.load(std::memory_order_relaxed);
    const auto reason = static_cast<s7::link_reason>(shown_.s7_reason.load());
    if (seen.state != source_state::up) {
        seen.reason = reason != s7::link_reason::none ? s7::words_of(reason)
                                                      : words_of(shown_.failure.load());
    }
    seen.since = shown_.since.load(std::memory_order_relaxed);
    seen.next_attempt = shown_.next_attempt.load(std::memory_order_relaxed);
    seen.connects = shown_.connects.load(std::memory_order_relaxed);
    seen.connect_failures = shown_.connect_failures.load(std::memory_order_relaxed);
    seen.requests = shown_.requests.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < request_failure_count; ++i) {
        seen.failures_by_reason[i] = shown_.failures[i].value();
        seen.request_failures += seen.failures_by_reason[i];
    }
    seen.item_errors = shown_.item_errors.load(std::memory_order_relaxed);
    seen.scans = shown_.scans.load(std::memory_order_relaxed);
    seen.overruns = shown_.overruns.load(std::memory_order_relaxed);
    seen.bytes_read = shown_.bytes_read.load(std::memory_order_relaxed);
    seen.bytes_written = writes_.bytes_written();
    seen.writes = writes_.durations();
    seen.lag = shown_.lag.load(std::memory_order_relaxed);
    if (const transport::time_point oldest = shown_.oldest.load(std::memory_order_relaxed);
        oldest != transport::time_point{}) {
        seen.oldest_age =
            std::max(shard_.time_source().now() - oldest, transport::duration::zero());
    }
    seen.pdu_size = shown_.pdu_size.load(std::memory_order_relaxed);
    seen.window = shown_.window.load(std::memory_order_relaxed);
    seen.pending_writes = static_cast<std::uint32_t>(writes_.outstanding());
    seen.pending_device_reads = static_cast<std::uint32_t>(reads_.outstanding());
    return seen;
}

}  // namespace tagferry::gateway
