#include "gateway/sources/s7/s7_source.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tagferry::gateway {
namespace {

/// Jobs handed to the engine beyond what the PLC takes at once, so that it never waits for us.
constexpr std::size_t jobs_ahead = 2;
static_assert(config::most_pending_writes + jobs_ahead <= s7::max_queued_jobs);

/// What comes back with a job: bit 63 for a write and its number; or scan, plan and job, with bit
/// 62 for a job sent on request.
constexpr std::uint64_t write_tag = std::uint64_t{1} << 63U;
constexpr std::uint64_t request_tag = std::uint64_t{1} << 62U;

constexpr std::uint64_t job_tag(std::size_t scan, std::uint16_t epoch, std::size_t job) noexcept {
    return (static_cast<std::uint64_t>(scan) << 48U) | (std::uint64_t{epoch} << 32U) |
           static_cast<std::uint64_t>(job);
}

bool is_trying(source_state state) noexcept {
    return state == source_state::connecting || state == source_state::waiting;
}

/// Why an attempt ended before the PLC was reached.
std::string_view words_of(transport::close_reason reason) noexcept {
    switch (reason) {
        case transport::close_reason::timed_out:
            return "no answer from the host in time: check its address, power and cable";
        case transport::close_reason::connect_failed:
        case transport::close_reason::transport_error:
            return "the host refuses the connection or cannot be reached: check address and port";
        default:
            return "no connection to the PLC";
    }
}

}  // namespace

s7_source::s7_source(transport::shard& owner, transport::worker_pool& resolver,
                     transport::pinned_pool& pool, tag_table& table, tag_table::owner_id owner_id,
                     const s7_source_options& options)
    : shard_(owner),
      options_(options),
      writer_(table, owner_id, owner.index()),
      engine_(options.client, pool, *this),
      link_(owner, resolver, options.link, engine_, this),
      reads_(options.pending_device_reads),
      writes_(options.pending_writes) {
    write_bytes_.resize(options.client.pdu_size);
}

s7_source::~s7_source() = default;

// --- Planning -----------------------------------------------------------------------------------

void s7_source::apply(const tag_model& model, const connection_definition& connection) {
    const transport::operation_scope scope(transport::kind_control);
    const auto old_scans = std::move(scans_);
    const auto old_places = std::move(places_);
    reads_.end_all(device_read_result::completed);
    scans_.clear();
    places_.clear();
    for (const config::scan_class& each : connection.settings.scan_classes) {
        scans_.push_back(
            std::make_unique<scan>(*this, std::chrono::milliseconds(each.interval_ms)));
    }
    for (const tag_definition& tag : model.tags_of(connection)) {
        s7::address where;
        s7::data_type type;
        if (s7::parse_address(tag.address, where) || s7::parse_data_type(tag.type_text, type)) {
            continue;
        }
        std::size_t index = 0;
        while (index + 1 < scans_.size() &&
               connection.settings.scan_classes[index].name != tag.scan_class) {
            ++index;
        }
        const scan_set::entry* known = nullptr;
        if (const auto place = old_places.find(tag.handle.index); place != old_places.end()) {
            const auto& entries = old_scans[place->second >> 32U]->set.entries();
            const scan_set::entry& old = entries[place->second & 0xFFFFFFFFU];
            known = old.handle == tag.handle ? &old : nullptr;
        }
        scan_set& set = scans_[index]->set;
        places_[tag.handle.index] = (static_cast<std::uint64_t>(index) << 32U) | set.size();
        set.add(tag.handle, where, type, std::chrono::milliseconds(tag.stale_after_ms), known);
    }
    next_scan_ = 0;
    device_jobs_in_flight_ = 0;
    if (engine_.state() == s7::link_state::up) {
        plan_all();
    } else {
        number_jobs();
        if (marked_down_ || marking_) {
            begin_marking(mark_reason_);
        }
    }
}

void s7_source::number_jobs() {
    std::size_t jobs = 0;
    for (const auto& each : scans_) {
        each->first_job = jobs;
        jobs += each->set.job_count();
    }
    reads_.set_job_count(jobs);
}

void s7_source::plan_all() {
    const transport::operation_scope scope(transport::kind_control);
    const s7::read_plan_options plan{engine_.limits().pdu_size, options_.client.max_items, true};
    for (const auto& each : scans_) {
        each->set.plan(plan, shard_.now());
        each->epoch = ++epochs_;
        each->in_flight = 0;
        each->cycling = false;
    }
    number_jobs();
    for (const auto& each : scans_) {
        begin_scan(*each, shard_.now());
    }
}

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
    return link_.status().state == transport::link_state::stopped && !marking_ && !reads_.any();
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
                shown_.close_reason = static_cast<std::uint8_t>(status.last_close.reason);
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
    plan_all();
}

void s7_source::went_down() {
    next_sweep_ = transport::time_point::max();
    for (const auto& each : scans_) {
        each->cancel();
        each->cycling = false;
        each->set.forget_parts();
    }
    reads_.end_all(device_read_result::no_communication);
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
    } else {
        reads_.end_empty();
        pump();
    }
}

publication s7_source::publication_at(transport::time_point arrived) noexcept {
    const transport::wall_time_ns now = shard_.time_source().wall_now();
    const auto age = std::chrono::nanoseconds(shard_.now() - arrived).count();
    return {writer_, arrived, now - age, now, &item_errors_, &bytes_read_};
}

// --- Scanning -----------------------------------------------------------------------------------

void s7_source::begin_scan(scan& which, transport::time_point now) {
    if (engine_.state() != s7::link_state::up || which.set.job_count() == 0) {
        return;
    }
    const transport::duration interval = which.set.interval();
    const transport::time_point due = which.due() == transport::time_point{} ? now : which.due();
    shard_.wheel().schedule(which, transport::next_due(due, interval, now));
    if (which.cycling) {
        shown_.overruns.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    begin_cycle(which);
    pump();
}

void s7_source::begin_cycle(scan& which) {
    which.cycling = true;
    which.next_job = 0;
}

void s7_source::end_cycle_if_done(scan& which) {
    if (which.in_flight != 0) {
        return;
    }
    if (which.cycling && which.next_job == which.set.job_count()) {
        which.cycling = false;
        shown_.scans.fetch_add(1, std::memory_order_relaxed);
    }
    // A new plan has other jobs, so nobody may be waiting for the old ones.
    if (which.set.wants_new_plan() && !which.cycling && !reads_.any()) {
        const transport::operation_scope scope(transport::kind_control);
        which.set.plan({engine_.limits().pdu_size, options_.client.max_items, true}, shard_.now());
        which.epoch = ++epochs_;
        number_jobs();
        begin_cycle(which);
    }
}

bool s7_source::submit(scan& which, std::size_t job, std::uint64_t purpose) {
    std::size_t index = 0;
    while (scans_[index].get() != &which) {
        ++index;
    }
    if (!engine_.submit_read(purpose | job_tag(index, which.epoch, job),
                             which.set.job_items(job))) {
        return false;
    }
    ++which.in_flight;
    reads_.job_sent(which.first_job + job);
    shown_.requests.fetch_add(1, std::memory_order_relaxed);
    return true;
}

bool s7_source::submit_device_read() {
    if (!reads_.any_job_wanted() ||
        device_jobs_in_flight_ >= std::max<std::size_t>(1, engine_.limits().window / 4)) {
        return false;
    }
    const std::size_t job = reads_.next_job();
    for (const auto& each : scans_) {
        if (job >= each->first_job && job < each->first_job + each->set.job_count()) {
            if (!submit(*each, job - each->first_job, request_tag)) {
                return false;
            }
            ++device_jobs_in_flight_;
            return true;
        }
    }
    return false;
}

bool s7_source::submit_scan() {
    if (engine_.jobs_in_flight() + engine_.jobs_queued() >= engine_.limits().window + jobs_ahead) {
        return false;
    }
    for (std::size_t tried = 0; tried < scans_.size(); ++tried) {
        scan& which = *scans_[(next_scan_ + tried) % scans_.size()];
        if (which.cycling && which.next_job < which.set.job_count()) {
            if (!submit(which, which.next_job, 0)) {
                return false;
            }
            ++which.next_job;
            next_scan_ = (next_scan_ + tried + 1) % scans_.size();
            return true;
        }
    }
    return false;
}

void s7_source::pump() {
    while (engine_.free_slots() != 0 && (submit_device_read() || submit_scan())) {
    }
}

void s7_source::job_finished(const s7::job_result& result) {
    if (result.kind == s7::job_kind::write) {
        finish_write(result);
        pump();
        return;
    }
    if (result.outcome != s7::job_outcome::answered) {
        shown_.request_failures.fetch_add(1, std::memory_order_relaxed);
    }
    const auto index = static_cast<std::size_t>((result.tag & ~request_tag) >> 48U);
    const auto job = static_cast<std::size_t>(result.tag & 0xFFFFFFFFU);
    if (index >= scans_.size() ||
        scans_[index]->epoch != static_cast<std::uint16_t>(result.tag >> 32U)) {
        pump();
        return;
    }
    scan& which = *scans_[index];
    --which.in_flight;
    which.set.take(job, result, publication_at(result.arrived));
    shown_.item_errors.store(item_errors_, std::memory_order_relaxed);
    shown_.bytes_read.store(bytes_read_, std::memory_order_relaxed);
    if ((result.tag & request_tag) != 0) {
        --device_jobs_in_flight_;
    }
    reads_.job_ended(which.first_job + job);
    end_cycle_if_done(which);
    pump();
}

void s7_source::expire(transport::time_point now) {
    next_sweep_ = now + transport::sweep_interval;
    for (const auto& each : scans_) {
        each->set.mark_stale(publication_at(now));
    }
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
    const auto begun = reads_.begin(ticket, &listener);
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
    if (engine_.state() != s7::link_state::up) {
        return reason_id::write_not_sent;
    }
    write_job job;
    const reason_id refused = encode_write(*entry, write.value, write_bytes_, job);
    if (refused != reason_id::none) {
        return refused;
    }
    const auto free = std::ranges::find(writes_, false, &pending_write::active);
    if (free == writes_.end() || engine_.free_slots() == 0) {
        return reason_id::busy;
    }
    const auto number = static_cast<std::uint64_t>(free - writes_.begin());
    if (!engine_.submit_write(write_tag | number, std::span(job.items).first(job.count))) {
        return reason_id::item_too_large;
    }
    *free = {true, ticket, &listener, write.tag, {}};
    for (std::size_t i = 0; i < job.count; ++i) {
        free->sizes[i] = static_cast<std::uint16_t>(job.items[i].bytes.size());
    }
    shown_.pending_writes.add(1);
    shown_.requests.fetch_add(1, std::memory_order_relaxed);
    return reason_id::none;
}

void s7_source::finish_write(const s7::job_result& result) {
    pending_write& write = writes_[static_cast<std::size_t>(result.tag & ~write_tag)];
    const write_outcome outcome = outcome_of(result, write.sizes);
    write.active = false;
    shown_.pending_writes.subtract(1);
    const tag_handle tag = write.tag;
    write_listener* const listener = write.listener;
    const std::uint64_t ticket = write.ticket;
    std::size_t index = 0;
    const scan_set::entry* const entry = find(tag, index);
    // The table shows what the PLC holds now, not what was written.
    if (outcome.reason == reason_id::write_accepted && entry != nullptr && entry->parts != 0) {
        if (const auto begun = reads_.begin(0, nullptr)) {
            for (std::size_t job = entry->first_job; job <= entry->last_job; ++job) {
                reads_.want(*begun, scans_[index]->first_job + job);
            }
        }
    }
    listener->write_finished(ticket, outcome);
}

bool s7_source::browse(std::string_view /*address*/, browse_listener& /*listener*/) {
    return false;  // the classic protocol knows blocks, not symbols
}

source_status s7_source::status() const noexcept {
    source_status seen;
    seen.state = shown_.state.load(std::memory_order_relaxed);
    const auto reason = static_cast<s7::link_reason>(shown_.s7_reason.load());
    if (seen.state != source_state::up) {
        const auto close = static_cast<transport::close_reason>(shown_.close_reason.load());
        seen.reason = reason != s7::link_reason::none ? s7::words_of(reason) : words_of(close);
    }
    seen.since = shown_.since.load(std::memory_order_relaxed);
    seen.next_attempt = shown_.next_attempt.load(std::memory_order_relaxed);
    seen.connects = shown_.connects.load(std::memory_order_relaxed);
    seen.connect_failures = shown_.connect_failures.load(std::memory_order_relaxed);
    seen.requests = shown_.requests.load(std::memory_order_relaxed);
    seen.request_failures = shown_.request_failures.load(std::memory_order_relaxed);
    seen.item_errors = shown_.item_errors.load(std::memory_order_relaxed);
    seen.scans = shown_.scans.load(std::memory_order_relaxed);
    seen.overruns = shown_.overruns.load(std::memory_order_relaxed);
    seen.bytes_read = shown_.bytes_read.load(std::memory_order_relaxed);
    seen.pdu_size = shown_.pdu_size.load(std::memory_order_relaxed);
    seen.window = shown_.window.load(std::memory_order_relaxed);
    seen.pending_writes = static_cast<std::uint32_t>(shown_.pending_writes.value());
    seen.pending_device_reads = static_cast<std::uint32_t>(reads_.outstanding());
    return seen;
}

// --- Options ------------------------------------------------------------------------------------

s7_source_options s7_options_of(const config::connection& settings,
                                const config::process_limits& limits,
                                transport::traffic& counters) {
    using std::chrono::milliseconds;
    s7_source_options options;
    options.client.local_tsap = settings.local_tsap;
    options.client.remote_tsap = settings.remote_tsap;
    if (settings.remote_tsap == 0) {
        const auto kind = settings.connection_type == config::connection_type::pg   ? 1
                          : settings.connection_type == config::connection_type::op ? 2
                                                                                    : 3;
        options.client.remote_tsap =
            s7::tsap_of(static_cast<std::uint8_t>(kind), settings.rack, settings.slot);
    }
    options.client.pdu_size = settings.pdu_size;
    options.client.max_jobs = settings.max_jobs;
    options.client.queued_jobs = jobs_ahead + limits.pending_writes_per_connection;
    options.pending_writes = limits.pending_writes_per_connection;
    options.pending_device_reads = limits.pending_device_reads_per_connection;
    options.client.job_timeout = milliseconds(settings.job_timeout_ms);
    options.link.host = settings.host;
    options.link.port = settings.port;
    options.link.connect_timeout = milliseconds(settings.connect_timeout_ms);
    options.link.back_off_first = milliseconds(settings.back_off_ms.min_ms);
    options.link.back_off_max = milliseconds(settings.back_off_ms.max_ms);
    options.link.connection.counters = &counters;
    options.keep_value_on_link_loss = settings.on_link_loss == config::link_loss::uncertain;
    return options;
}

std::size_t s7_pool_slots(const s7::client_options& options) noexcept {
    return options.max_jobs + options.queued_jobs + 1;
}

}  // namespace tagferry::gateway
