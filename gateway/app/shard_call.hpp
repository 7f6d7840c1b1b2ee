// The control thread's way of doing something on a shard and waiting for it. Not for shards.
#pragma once

#include "transport/threads/shard.hpp"
#include "transport/time/timing_wheel.hpp"

#include <chrono>
#include <exception>
#include <semaphore>
#include <type_traits>
#include <utility>

namespace tagferry::gateway {

/// Runs `function()` on the shard's thread and returns when it has run; exceptions pass through.
/// The shard must run. No allocation. False when its mailbox is full: nothing was run.
template <class Function>
bool run_on(transport::shard& target, Function&& function) {
    struct call {
        std::remove_reference_t<Function>& function;
        std::exception_ptr thrown{};
        std::binary_semaphore done{0};
    };
    call pending{function};
    const transport::task work{[](void* object, std::uint64_t, std::uint64_t) {
                                   call& each = *static_cast<call*>(object);
                                   try {
                                       each.function();
                                   } catch (...) {
                                       each.thrown = std::current_exception();
                                   }
                                   each.done.release();
                               },
                               &pending, 0, 0};
    if (!target.post(work)) {
        return false;
    }
    pending.done.acquire();
    if (pending.thrown) {
        std::rethrow_exception(pending.thrown);
    }
    return true;
}

/// Looks every 10 ms on the shard's thread whether `condition()` holds.
template <class Condition>
class condition_watch final : public transport::wheel_timer {
  public:
    condition_watch(transport::shard& owner, Condition& condition,
                    transport::time_point until) noexcept
        : owner_(owner), condition_(condition), until_(until) {}

    /// Waits, on the control thread, for what became of it.
    bool outcome() noexcept {
        done_.acquire();
        return held_;
    }

    void fire(transport::time_point now) override {
        const bool holds = condition_();
        if (holds || now >= until_) {
            held_ = holds;
            done_.release();
            return;
        }
        owner_.wheel().schedule(*this, now + std::chrono::milliseconds(10));
    }

  private:
    transport::shard& owner_;
    Condition& condition_;
    transport::time_point until_;
    bool held_ = false;
    std::binary_semaphore done_{0};
};

/// Waits until `condition()`, asked on the shard's thread, holds, not longer than `until`.
template <class Condition>
bool wait_on(transport::shard& target, transport::time_point until, Condition&& condition) {
    condition_watch<std::remove_reference_t<Condition>> watch(target, condition, until);
    const bool begun = run_on(target, [&] { watch.fire(target.now()); });
    const bool holds = begun && watch.outcome();
    // The timer leaves the wheel on the wheel's own thread.
    run_on(target, [&] { watch.cancel(); });
    return holds;
}

}  // namespace tagferry::gateway
