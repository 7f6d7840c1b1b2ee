#include "transport/memory/pinned_pool.hpp"

namespace tagferry::transport {

void pinned_pool::wait(pool_waiter& waiter) noexcept {
    if (waiter.pool_ == this) {
        return;
    }
    waiter.pool_ = this;
    waiter.previous_ = last_waiter_;
    waiter.next_ = nullptr;
    (last_waiter_ == nullptr ? first_waiter_ : last_waiter_->next_) = &waiter;
    last_waiter_ = &waiter;
}

void pinned_pool::stop_waiting(pool_waiter& waiter) noexcept {
    if (waiter.pool_ != this) {
        return;
    }
    (waiter.previous_ == nullptr ? first_waiter_ : waiter.previous_->next_) = waiter.next_;
    (waiter.next_ == nullptr ? last_waiter_ : waiter.next_->previous_) = waiter.previous_;
    waiter.pool_ = nullptr;
    waiter.previous_ = nullptr;
    waiter.next_ = nullptr;
}

void pinned_pool::wake_waiters() noexcept {
    const pool_waiter* const last = last_waiter_;
    for (bool more = true; more && first_waiter_ != nullptr;) {
        pool_waiter& woken = *first_waiter_;
        more = &woken != last;
        stop_waiting(woken);
        woken.slot_returned();
    }
}

}  // namespace tagferry::transport
