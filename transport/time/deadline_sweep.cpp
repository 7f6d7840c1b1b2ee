#include "transport/time/deadline_sweep.hpp"

namespace tagferry::transport {

namespace {
// Looking at a deadline is a virtual call and a comparison: this many cost what one item may.
constexpr std::size_t looks_per_item = 16;
}  // namespace

void deadline_sweep::add(sweep_participant& participant) noexcept {
    if (!list::linked(participant)) {
        swept_.push_back(participant);
    }
}

void deadline_sweep::remove(sweep_participant& participant) noexcept {
    list::unlink(participant);
}

bool deadline_sweep::run(time_point now, turn_budget& budget) {
    if (!in_progress_) {
        waiting_.splice_back(swept_);
        in_progress_ = true;
    }
    for (std::size_t looked = 0; !waiting_.empty(); ++looked) {
        sweep_participant& participant = waiting_.front();
        const bool due = participant.deadline() <= now;
        if ((due || looked % looks_per_item == 0) && !budget.spend()) {
            return false;
        }
        list::unlink(participant);
        swept_.push_back(participant);
        if (due) {
            participant.expire(now);
        }
    }
    in_progress_ = false;
    return true;
}

}  // namespace tagferry::transport
