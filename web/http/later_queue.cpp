#include "web/http/later_queue.hpp"

namespace tagferry::web {

later_member::~later_member() {
    if (queue_ != nullptr) {
        queue_->remove(*this);
    }
}

bool later_queue::add(later_member& member) noexcept {
    if (member.queue_ == nullptr) {
        member.queue_ = this;
        member.previous_ = last_;
        member.next_ = nullptr;
        (last_ == nullptr ? first_ : last_->next_) = &member;
        last_ = &member;
    }
    retry();
    return armed_;
}

void later_queue::remove(later_member& member) noexcept {
    if (member.queue_ == nullptr) {
        return;
    }
    (member.previous_ == nullptr ? first_ : member.previous_->next_) = member.next_;
    (member.next_ == nullptr ? last_ : member.next_->previous_) = member.previous_;
    member.queue_ = nullptr;
}

void later_queue::retry() noexcept {
    if (first_ != nullptr && !armed_) {
        armed_ = execution_.later(*this, {});
    }
}

void later_queue::resume(transport::completion_token, std::uint32_t, transport::time_point now) {
    armed_ = false;
    // One member a turn: each may use up the turn's share of work.
    if (first_ != nullptr) {
        later_member& member = *first_;
        remove(member);
        member.go_on(now);
    }
    retry();
}

}  // namespace tagferry::web
