// Which jobs an S7 source sends, when, and what becomes of their replies. At no time are two reads
// of the same job with the PLC: it may answer in any order, and no value may go back in time.
#include "gateway/sources/s7/s7_source.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tagferry::gateway {
namespace {

/// What comes back with a job: bit 63 for a write and its number; or scan, plan and job, with bit
/// 62 for a job sent on request.
constexpr std::uint64_t write_tag = std::uint64_t{1} << 63U;
constexpr std::uint64_t request_tag = std::uint64_t{1} << 62U;

constexpr std::uint64_t job_tag(std::size_t scan, std::uint16_t epoch, std::size_t job) noexcept {
    return (static_cast<std::uint64_t>(scan) << 48U) | (std::uint64_t{epoch} << 32U) |
           static_cast<std::uint64_t>(job);
}

request_failure failure_of(s7::job_outcome outcome) noexcept {
    switch (outcome) {
        case s7::job_outcome::refused:
            return request_failure::refused;
        case s7::job_outcome::timed_out:
            return request_failure::timed_out;
        case s7::job_outcome::link_lost:
            return request_failure::link_lost;
        case s7::job_outcome::not_sent:
            return request_failure::not_sent;
        case s7::job_outcome::answered:
        case s7::job_outcome::reply_unusable:
            break;
    }
    return request_failure::reply_unusable;
}

}  // namespace

// --- Planning -----------------------------------------------------------------------------------

void s7_source::apply(const tag_model& model, const connection_definition& connection) {
    const transport::operation_scope scope(transport::kind_control);
    const std::vector<wanted_tag> asked_for = wanted_tags();
    const auto old_scans = std::move(scans_);
    const auto old_places = std::move(places_);
    for (const auto& each : old_scans) {
        each->set.note_arrivals();
    }
    model_ = &model;
    scans_.clear();
    places_.clear();
    for (const config::scan_class& each : connection.settings.scan_classes) {
        scans_.push_back(
            std::make_unique<scan>(*this, each.name, std::chrono::milliseconds(each.interval_ms)));
    }
    std::size_t largest_written = 0;
    for (const tag_definition& tag : model.tags_of(connection)) {
        s7::address where;
        s7::data_type type;
        if (s7::parse_address(tag.address, where) || s7::parse_data_type(tag.type_text, type)) {
            continue;
        }
        std::size_t index = 0;
        while (index + 1 < scans_.size() && scans_[index]->name != tag.scan_class) {
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
        set.add(tag.handle, where, type, std::chrono::milliseconds(tag.stale_after_ms),
                tag.writable, known);
        if (tag.writable) {
            largest_written =
                std::max<std::size_t>(largest_written, set.entries().back().plc_bytes);
        }
    }
    writes_.make_room(largest_written);
    next_scan_ = 0;
    device_jobs_in_flight_ = 0;
    if (engine_.state() == s7::link_state::up) {
        plan_all(asked_for);
    } else {
        number_jobs();
        if (marked_down_ || marking_) {
            begin_marking(mark_reason_);
        }
    }
    show_oldest();
}

void s7_source::number_jobs() {
    std::size_t jobs = 0;
    for (const auto& each : scans_) {
        each->first_job = jobs;
        jobs += each->set.job_count();
    }
    reads_.set_job_count(jobs);
}

void s7_source::plan(scan& which) {
    which.set.plan({engine_.limits().pdu_size, options_.client.max_items, true}, shard_.now());
    which.epoch = ++epochs_;
    which.in_flight = 0;
    which.cycling = false;
    which.is_in_flight.assign(which.set.job_count(), 0);
    which.sent_in.assign(which.set.job_count(), which.cycle);
}

void s7_source::plan_all(std::span<const wanted_tag> asked_for) {
    const transport::operation_scope scope(transport::kind_control);
    for (const auto& each : scans_) {
        plan(*each);
    }
    number_jobs();
    want_again(asked_for);
    for (const auto& each : scans_) {
        begin_scan(*each, shard_.now());
    }
}

/// Reads on request outlive a plan: they wait for tags, whichever jobs bring them.
std::vector<s7_source::wanted_tag> s7_source::wanted_tags() const {
    std::vector<wanted_tag> found;
    for (const device_reads::wanted_job& each : reads_.wanted()) {
        const scan& from = *scan_of(each.job);
        for (const std::uint32_t entry : from.set.entries_of(each.job - from.first_job)) {
            found.push_back({each.read, from.set.entries()[entry].handle});
        }
    }
    return found;
}

void s7_source::want_again(std::span<const wanted_tag> asked_for) {
    for (const wanted_tag& each : asked_for) {
        std::size_t index = 0;
        if (const scan_set::entry* const entry = find(each.tag, index)) {
            for (std::size_t job = entry->first_job; job <= entry->last_job; ++job) {
                reads_.want(each.read, scans_[index]->first_job + job);
            }
        }
    }
    if (reads_.any()) {
        shard_.at_next_turn(*this);  // for those that wait for nothing any more
    }
}

s7_source::scan* s7_source::scan_of(std::size_t job) const noexcept {
    for (const auto& each : scans_) {
        if (job >= each->first_job && job < each->first_job + each->set.job_count()) {
            return each.get();
        }
    }
    return nullptr;
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
        show_lateness(which, now);
        tell({.kind = source_event_kind::scan_late, .scan_class = which.name});
        return;
    }
    which.began_due = due;
    begin_cycle(which);
    pump();
}

/// How late the cycle of `which` is that runs, or has just ended, and how old the oldest answer.
void s7_source::show_lateness(scan& which, transport::time_point now) noexcept {
    which.lag = std::max(now - which.began_due - which.set.interval(), transport::duration::zero());
    transport::duration longest{};
    for (const auto& each : scans_) {
        longest = std::max(longest, each->lag);
    }
    shown_.lag.store(longest, std::memory_order_relaxed);
    show_oldest();
}

void s7_source::show_oldest() noexcept {
    bool any = false;
    transport::time_point oldest = transport::time_point::max();
    for (const auto& each : scans_) {
        any = any || each->set.size() != 0;
        oldest = std::min(oldest, each->set.oldest_answer());
    }
    if (!any) {
        shown_.oldest.store({}, std::memory_order_relaxed);
    } else if (oldest != transport::time_point::max()) {
        shown_.oldest.store(oldest, std::memory_order_relaxed);
    } else if (shown_.oldest.load(std::memory_order_relaxed) == transport::time_point{}) {
        shown_.oldest.store(shard_.now(), std::memory_order_relaxed);  // nothing came yet
    }
}

void s7_source::begin_cycle(scan& which) {
    which.cycling = true;
    which.next_job = 0;
    ++which.cycle;
}

/// What is being read on request, or was since the cycle began, is not read a second time: a slow
/// PLC that is written to all the time would get through its cycles half as often.
void s7_source::skip_read_jobs(scan& which) noexcept {
    while (
        which.cycling && which.next_job < which.set.job_count() &&
        (which.is_in_flight[which.next_job] != 0 || which.sent_in[which.next_job] == which.cycle)) {
        ++which.next_job;
    }
}

void s7_source::end_cycle_if_done(scan& which) {
    skip_read_jobs(which);
    if (which.in_flight != 0) {
        return;
    }
    if (which.cycling && which.next_job == which.set.job_count()) {
        which.cycling = false;
        shown_.scans.fetch_add(1, std::memory_order_relaxed);
        show_lateness(which, shard_.now());
    }
    if (which.set.wants_new_plan() && !which.cycling && engine_.state() == s7::link_state::up) {
        const transport::operation_scope scope(transport::kind_control);
        const std::vector<wanted_tag> asked_for = wanted_tags();
        plan(which);
        number_jobs();
        want_again(asked_for);
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
    which.is_in_flight[job] = 1;
    which.sent_in[job] = which.cycle;
    reads_.job_sent(which.first_job + job);
    shown_.requests.fetch_add(1, std::memory_order_relaxed);
    return true;
}

bool s7_source::submit_device_read() {
    if (device_jobs_in_flight_ >= std::max<std::size_t>(1, engine_.limits().window / 4)) {
        return false;
    }
    const auto job = reads_.next_job([this](std::size_t wanted) {
        const scan& of = *scan_of(wanted);
        return of.is_in_flight[wanted - of.first_job] == 0;
    });
    if (!job) {
        return false;
    }
    scan& which = *scan_of(*job);
    if (!submit(which, *job - which.first_job, request_tag)) {
        return false;
    }
    ++device_jobs_in_flight_;
    scan_is_next_ = true;
    return true;
}

bool s7_source::submit_scan() {
    if (engine_.jobs_in_flight() + engine_.jobs_queued() >= engine_.limits().window + jobs_ahead) {
        return false;
    }
    for (std::size_t tried = 0; tried < scans_.size(); ++tried) {
        scan& which = *scans_[(next_scan_ + tried) % scans_.size()];
        skip_read_jobs(which);
        if (which.cycling && which.next_job < which.set.job_count()) {
            if (!submit(which, which.next_job, 0)) {
                return false;
            }
            ++which.next_job;
            scan_is_next_ = false;
            next_scan_ = (next_scan_ + tried + 1) % scans_.size();
            return true;
        }
    }
    return false;
}

void s7_source::pump() {
    if (engine_.state() != s7::link_state::up) {
        return;
    }
    const std::size_t sent = writes_.submit_to(engine_, write_tag, shard_.now());
    if (sent != 0) {
        shown_.requests.fetch_add(sent, std::memory_order_relaxed);
    }
    // Reads on request and scans take turns where both wait: neither starves the other.
    while (engine_.free_slots() != 0) {
        if (!(scan_is_next_ ? submit_scan() || submit_device_read()
                            : submit_device_read() || submit_scan())) {
            break;
        }
    }
    if (!job_alarm_.scheduled() && engine_.jobs_in_flight() + engine_.jobs_queued() != 0) {
        shard_.wheel().schedule(job_alarm_, shard_.now() + options_.client.job_timeout);
    }
}

/// The engine's deadlines are swept every 100 ms; a PLC that went silent is told at once.
void s7_source::job_alarm_rings(transport::time_point now) {
    engine_.expire(now);
    const transport::time_point next = engine_.deadline();
    if (engine_.state() == s7::link_state::up && next != transport::time_point::max()) {
        shard_.wheel().schedule(job_alarm_, next);
    }
}

void s7_source::job_finished(const s7::job_result& result) {
    if (result.outcome != s7::job_outcome::answered) {
        shown_.failures[static_cast<std::size_t>(failure_of(result.outcome))].add(1);
        tell_of_failure(result);
    }
    if (result.kind == s7::job_kind::write) {
        write_job_finished(result);
        pump();
        return;
    }
    const auto index = static_cast<std::size_t>((result.tag & ~request_tag) >> 48U);
    const auto job = static_cast<std::size_t>(result.tag & 0xFFFFFFFFU);
    if (index < scans_.size() &&
        scans_[index]->epoch == static_cast<std::uint16_t>(result.tag >> 32U)) {
        scan& which = *scans_[index];
        --which.in_flight;
        which.is_in_flight[job] = 0;
        device_jobs_in_flight_ -= (result.tag & request_tag) != 0 ? 1U : 0U;
        which.set.take(job, result, publication_at(result.arrived));
        shown_.item_errors.store(item_errors_, std::memory_order_relaxed);
        shown_.bytes_read.store(bytes_read_, std::memory_order_relaxed);
        reads_.job_ended(which.first_job + job);
        end_cycle_if_done(which);
    }
    pump();
}

void s7_source::write_job_finished(const s7::job_result& result) {
    const auto ended = writes_.job_finished(static_cast<std::size_t>(result.tag & ~write_tag),
                                            result, shard_.now());
    std::size_t index = 0;
    const scan_set::entry* const entry = ended ? find(ended->tag, index) : nullptr;
    // The table shows what the PLC holds now, not what was written.
    if (entry != nullptr && ended->may_have_changed && entry->parts != 0) {
        for (std::size_t job = entry->first_job; job <= entry->last_job; ++job) {
            reads_.want(scans_[index]->first_job + job);
        }
    }
}

void s7_source::expire(transport::time_point now) {
    next_sweep_ = now + transport::sweep_interval;
    for (const auto& each : scans_) {
        each->set.mark_stale(publication_at(now));
    }
}

// --- What is told -------------------------------------------------------------------------------

void s7_source::tell(const source_event& what) {
    if (options_.observer != nullptr) {
        options_.observer->source_event_happened(*this, what);
    }
}

void s7_source::tell_of_failure(const s7::job_result& result) {
    source_event what;
    what.device_code = result.error;
    switch (result.outcome) {
        case s7::job_outcome::timed_out:
            what.kind = source_event_kind::request_timed_out;
            what.reason = reason_id::job_timed_out;
            break;
        case s7::job_outcome::refused:
            what.kind = source_event_kind::request_refused;
            what.reason = reason_id::job_refused;
            break;
        case s7::job_outcome::reply_unusable:
            what.kind = source_event_kind::reply_unusable;
            what.reason = reason_id::reply_unusable;
            break;
        default:
            return;  // the loss of the link is an event of its own
    }
    tell(what);
}

void s7_source::tag_failed(tag_handle tag, reason_id reason, int device_code) {
    const tag_definition* const known = model_ == nullptr ? nullptr : model_->find(tag);
    if (known != nullptr) {
        tell({.kind = source_event_kind::item_failed,
              .tag = model_->nodes()[known->node].path,
              .reason = reason,
              .device_code = device_code});
    }
}

}  // namespace tagferry::gateway
