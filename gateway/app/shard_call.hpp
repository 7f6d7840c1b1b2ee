// The control thread's way of doing something on a shard and waiting for it. Not for shards.
#pragma once

#include "transport/threads/shard.hpp"
#include "transport/time/timing_wheel.hpp"

#include <chrono>
#include <exception>
#include <future>
#include <type_traits>
#include <utility>

namespace tagferry::gateway {

/// Runs `function()` on the shard's thread and returns when it has run; exceptions pass through.
/// The shard must run. False when its mailbox is full: nothing was run.
template <class Function>
bool run_on(transport::shard& target, Function&& function) {
    struct call {
        std::remove_reference_t<Function>& function;
        std::promise<void> done;
    };
    call pending{function, {}};
    std::future<void> finished = pending.done.get_future();
    const transport::task work{[](void* object, std::uint64_t, std::uint64_t) {
                                   call& each = *static_cast<call*>(object);
                                   try {
                                       each.function();
                                       each.done.set_value();
                                   } catch (...) {
                                       each.done.set_exception(std::current_exception());
                                   }
                               },
                               &pending, 0, 0};
    if (!target.post(work)) {
        return false;
    }
    finished.get();
    return true;
}

/// Looks every 10 ms on the shard's thread whether `condition()` holds.
template <class Condition>
class condition_watch final : public transport::wheel_timer {
  public:
    condition_watch(transport::shard& owner, Condition& condition,
                    transport::time_point until) noexcept
        : owner_(owner), condition_(condition), until_(until) {}

    std::future<bool> outcome() { return result_.get_future(); }

    void fire(transport::time_point now) override {
        const bool holds = condition_();
        if (holds || now >= until_) {
            result_.set_value(holds);
            return;
        }
        owner_.wheel().schedule(*this, now + std::chrono::milliseconds(10));
    }

  private:
    transport::shard& owner_;
    Condition& condition_;
    transport::time_point until_;
    std::promise<bool> result_;
};

/// Waits until `condition()`, asked on the shard's thread, holds, not longer than `until`.
template <class Condition>
bool wait_on(transport::shard& target, transport::time_point until, Condition&& condition) {
    condition_watch<std::remove_reference_t<Condition>> watch(target, condition, until);
    std::future<bool> outcome = watch.outcome();
    const bool begun = run_on(target, [&] { watch.fire(target.now()); });
    const bool holds = begun && outcome.get();
    // The timer leaves the wheel on the wheel's own thread.
    run_on(target, [&] { watch.cancel(); });
    return holds;
}

}  // namespace tagferry::gateway
