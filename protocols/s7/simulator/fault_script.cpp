#include "protocols/s7/simulator/fault_script.hpp"

#include <algorithm>

namespace tagferry::s7 {

namespace {

using namespace std::chrono_literals;
using transport::duration;
using transport::time_point;

// A bit that no job in flight can differ in: references are handed out one after the other.
constexpr std::uint16_t flipped_bit = 0x8000;
constexpr std::size_t small_fragment = 67;
constexpr std::size_t small_pdu = 120;

constexpr scripted_fault each(fault_kind kind, std::uint32_t every) {
    scripted_fault made;
    made.kind = kind;
    made.every = every;
    return made;
}

constexpr scripted_fault with_code(scripted_fault made, std::uint16_t code) {
    made.code = code;
    return made;
}

constexpr scripted_fault with_delay(scripted_fault made, duration delay) {
    made.delay = delay;
    return made;
}

constexpr scripted_fault now_and_then(fault_kind kind, duration length, duration period) {
    scripted_fault made;
    made.kind = kind;
    made.start = 1s;
    made.length = length;
    made.period = period;
    return made;
}

constexpr std::array<fault_description, fault_kind_count> catalogue = {{
    {"dropped_reply", "each `every`th job is carried out and never answered",
     each(fault_kind::dropped_reply, 40)},
    {"late_reply", "each `every`th answer comes `delay` late, past a client's patience",
     with_delay(each(fault_kind::late_reply, 40), 2500ms)},
    {"duplicate_reply", "each `every`th answer is sent twice",
     each(fault_kind::duplicate_reply, 5)},
    {"wrong_reference", "each `every`th answer names a job that nobody sent",
     each(fault_kind::wrong_reference, 40)},
    {"two_replies",
     "each `every`th answer waits up to `delay` and leaves in one segment with the next",
     with_delay(each(fault_kind::two_replies, 2), 20ms)},
    {"dribble", "each `every`th answer leaves byte by byte, `delay` apart",
     each(fault_kind::dribble, 5)},
    {"fragments", "each `every`th answer is cut into pieces of 64 bytes",
     each(fault_kind::fragments, 1)},
    {"item_error", "one item of each `every`th job, another one each time, fails with `code`",
     with_code(each(fault_kind::item_error, 3),
               static_cast<std::uint16_t>(item_code::out_of_range))},
    {"job_error", "each `every`th job is refused with class and code `code`",
     with_code(each(fault_kind::job_error, 5), 0x8001)},
    {"data_block_gone", "data block `block`, or all of them, do not exist",
     now_and_then(fault_kind::data_block_gone, 1s, 3s)},
    {"reset", "each `every`th job resets its connection, every other time after it was carried out",
     each(fault_kind::reset, 50)},
    {"refused_connection", "connections are reset, and so is every new one",
     now_and_then(fault_kind::refused_connection, 1s, 4s)},
    {"silence", "nothing is answered, on connections old and new",
     now_and_then(fault_kind::silence, 3s, 8s)},
    {"stop", "the CPU is in STOP: it answers, and its signals stand still",
     now_and_then(fault_kind::stop, 1s, 3s)},
    {"smaller_pdu",
     "each `every`th job resets its connection; every other link is granted a PDU of 120",
     each(fault_kind::smaller_pdu, 50)},
}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < catalogue.size(); ++i) {
        if (static_cast<std::size_t>(catalogue[i].usual.kind) != i) {
            return false;
        }
    }
    return true;
}
static_assert(in_order());

bool is_variable_job(const s7_message& job) noexcept {
    return job.type == message_type::job &&
           (job.function() == static_cast<std::uint8_t>(function_code::read_variable) ||
            job.function() == static_cast<std::uint8_t>(function_code::write_variable));
}

/// Faults that last for a time, and meet whatever comes then.
bool is_a_state(fault_kind kind) noexcept {
    return kind == fault_kind::refused_connection || kind == fault_kind::silence ||
           kind == fault_kind::data_block_gone || kind == fault_kind::stop;
}

void end_job(job_fate& fate, job_fate::action what) noexcept {
    fate.what = fate.what == job_fate::action::answer ? what : fate.what;
}

void spoil(job_fate& fate, const scripted_fault& fault, std::uint64_t hits) noexcept {
    using action = job_fate::action;
    switch (fault.kind) {
        case fault_kind::dropped_reply:
            return end_job(fate, action::lose);
        case fault_kind::silence:
            return end_job(fate, action::ignore);
        case fault_kind::refused_connection:
            return end_job(fate, action::drop);
        case fault_kind::reset:
        case fault_kind::smaller_pdu:
            return end_job(fate, hits % 2 == 0 ? action::lose_and_drop : action::drop);
        case fault_kind::job_error:
            fate.error = fate.what == action::answer ? fault.code : fate.error;
            return end_job(fate, action::refuse);
        case fault_kind::late_reply:
            fate.delay += fault.delay;
            return;
        case fault_kind::duplicate_reply:
            fate.twice = true;
            return;
        case fault_kind::wrong_reference:
            fate.reference_flip = flipped_bit;
            return;
        case fault_kind::two_replies:
            fate.hold = fault.delay;
            return;
        case fault_kind::dribble:
            fate.dribble = std::max(fault.delay, duration{1});
            return;
        case fault_kind::fragments:
            fate.fragment_size = small_fragment;
            return;
        case fault_kind::item_error:
            fate.item_error = static_cast<item_code>(fault.code);
            fate.failing_item = hits;
            return;
        case fault_kind::data_block_gone:
        case fault_kind::stop:
            return;  // the PLC asks for these by itself
    }
}

}  // namespace

std::span<const fault_description> fault_catalogue() noexcept {
    return catalogue;
}

const fault_description* find_fault(std::string_view name) noexcept {
    const auto found =
        std::find_if(catalogue.begin(), catalogue.end(),
                     [name](const fault_description& one) { return one.name == name; });
    return found == catalogue.end() ? nullptr : &*found;
}

scripted_faults::scripted_faults(std::span<const scripted_fault> script, time_point begin)
    : begin_(begin) {
    for (const scripted_fault& fault : script) {
        script_.push_back({fault});
    }
}

bool scripted_faults::is_on(const scripted_fault& fault, time_point now) const noexcept {
    const duration since = now - begin_ - fault.start;
    if (since < duration::zero()) {
        return false;
    }
    const duration into = fault.period > duration::zero() ? since % fault.period : since;
    return fault.length == duration::zero() || into < fault.length;
}

const scripted_faults::running_fault* scripted_faults::first_on(fault_kind kind,
                                                                time_point now) const noexcept {
    const auto found = std::find_if(script_.begin(), script_.end(), [&](const running_fault& one) {
        return one.fault.kind == kind && is_on(one.fault, now);
    });
    return found == script_.end() ? nullptr : &*found;
}

connection_fate scripted_faults::accept_connection(time_point now) {
    if (first_on(fault_kind::refused_connection, now) != nullptr) {
        hit(fault_kind::refused_connection);
        return connection_fate::refuse;
    }
    if (first_on(fault_kind::silence, now) != nullptr) {
        hit(fault_kind::silence);
        return connection_fate::ignore;
    }
    return connection_fate::serve;
}

/// Whether a fault meets this job; counts it.
bool scripted_faults::meets(running_fault& one, const s7_message& job, time_point now) noexcept {
    if (!is_on(one.fault, now)) {
        return false;
    }
    if (is_a_state(one.fault.kind)) {
        return one.fault.kind != fault_kind::data_block_gone &&
               (one.fault.kind != fault_kind::stop || is_variable_job(job));
    }
    return is_variable_job(job) && ++one.jobs % std::max(one.fault.every, 1U) == 0;
}

job_fate scripted_faults::judge(const s7_message& job, time_point now) {
    job_fate fate;
    for (running_fault& one : script_) {
        if (meets(one, job, now)) {
            ++one.hits;
            hit(one.fault.kind);
            spoil(fate, one.fault, one.hits);
        }
    }
    return fate;
}

bool scripted_faults::block_exists(std::uint16_t block, time_point now) {
    const bool gone = std::any_of(script_.begin(), script_.end(), [&](const running_fault& one) {
        return one.fault.kind == fault_kind::data_block_gone && is_on(one.fault, now) &&
               (one.fault.block == 0 || one.fault.block == block);
    });
    if (gone) {
        hit(fault_kind::data_block_gone);
    }
    return !gone;
}

std::size_t scripted_faults::pdu_limit(time_point /*now*/) {
    return hits(fault_kind::smaller_pdu) % 2 != 0 ? small_pdu : largest_pdu;
}

duration scripted_faults::time_in_stop(time_point now) {
    const auto found = std::find_if(script_.begin(), script_.end(), [](const running_fault& one) {
        return one.fault.kind == fault_kind::stop;
    });
    if (found == script_.end()) {
        return duration::zero();
    }
    const scripted_fault& fault = found->fault;
    const duration since = std::max(now - begin_ - fault.start, duration::zero());
    if (fault.length == duration::zero()) {
        return since;
    }
    if (fault.period <= duration::zero()) {
        return std::min(since, fault.length);
    }
    return since / fault.period * fault.length + std::min(since % fault.period, fault.length);
}

}  // namespace tagferry::s7
