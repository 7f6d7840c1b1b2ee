// One poller, one thread, and everything that lives on it. Objects on a shard need no locks:
// only `post`, `wake`, `announce`, `stop` and the counters may be used from other threads.
//
// Each handful of ready descriptors, each batch of tasks and each timer tick is a turn. What is
// marked in it acts when the outermost `turn_scope` ends:
//
//   turn begins: read the clock, take over announced snapshots
//   handlers, tasks, timers, sweep          mark participants
//   turn ends:   every turn_participant, then every after_turn_participant, until both lists are
//                empty or the turn's limits (256 items, 200 us) are reached; then the rest goes on
//                in a turn of its own
#pragma once

#include "transport/threads/poller.hpp"
#include "transport/threads/task.hpp"
#include "transport/threads/turn.hpp"
#include "transport/time/clock.hpp"
#include "transport/time/deadline_sweep.hpp"
#include "transport/time/timing_wheel.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tagferry::transport {

/// Told about every exception that reached the shard, on the shard's thread.
/// @param where what was being called, e.g. "task". @param what the exception's words.
struct fault_hook {
    void (*report)(void* context, std::string_view shard, std::string_view where,
                   std::string_view what) noexcept = nullptr;
    void* context = nullptr;
};

struct shard_options {
    std::string_view name;                ///< thread name, at most 15 bytes are shown
    std::size_t index = 0;                ///< place among the shards
    std::size_t mailbox_capacity = 4096;  ///< tasks, over 0; rounded up to a power of two
    int cpu = -1;                         ///< the CPU to stay on; -1 for any
    fault_hook on_fault{};
};

/// Numbers since the start, readable from any thread; each is monotonic and may be a moment old.
struct shard_statistics {
    std::uint64_t turns = 0;
    std::uint64_t wake_ups = 0;  ///< system calls made to wake the shard, many posts each
    std::uint64_t tasks_run = 0;
    std::uint64_t tasks_refused = 0;  ///< posts answered with false
    std::uint64_t tasks_dropped = 0;  ///< accepted, but the shard had ended
    std::uint64_t faults = 0;         ///< exceptions contained
};

class shard {
  public:
    /// @param source must outlive the shard. With a clock that is not the machine's, move it
    ///   and then `wake`: what is due is done at the end of any turn.
    /// Throws std::system_error when the system gives no descriptors.
    shard(const shard_options& options, const clock& source);
    /// Stops and joins. Tasks still queued are dropped.
    ~shard();
    shard(const shard&) = delete;
    shard& operator=(const shard&) = delete;

    /// Watches the descriptors of this shard; each report is a turn.
    poller& descriptors() noexcept { return poller_; }
    const clock& time_source() const noexcept { return clock_; }
    std::string_view name() const noexcept { return name_.data(); }
    std::size_t index() const noexcept { return index_; }

    /// The time of the current turn, read once when it began.
    time_point now() const noexcept { return now_; }

    /// Marks: acts once at the end of this turn, however often it is marked. Within a turn only.
    void at_turn_end(turn_participant& participant) noexcept {
        if (!turn_list::linked(participant)) {
            turn_end_list_.push_back(participant);
        }
    }
    void after_turn(after_turn_participant& participant) noexcept {
        if (!after_list::linked(participant)) {
            after_turn_list_.push_back(participant);
        }
    }
    /// Marks: acts at the beginning of a later turn, which comes without any other event.
    void at_next_turn(next_turn_participant& participant) noexcept;

    /// Takes part in the sweep of deadlines every 100 ms, until removed or destroyed.
    void add(sweep_participant& participant) noexcept;
    void remove(sweep_participant& participant) noexcept { sweep_.remove(participant); }

    /// Schedules of this shard. Timers scheduled before the start count from the start on.
    timing_wheel& wheel() noexcept { return wheel_; }

    /// Hears of `announce`. Before the start, after the join, or on the shard's thread.
    void add(turn_start_listener& listener) noexcept { listeners_.push_back(listener); }

    /// Queues a task. From ANY thread, lock-free, without allocating; tasks of one thread run in
    /// the order posted. Accepted before the start too.
    /// @return false when the mailbox is full or the shard has ended: the caller keeps the task.
    bool post(const task& work) noexcept;

    /// Makes the shard begin a turn soon. From any thread; many calls before the shard gets to it
    /// are one wake-up.
    void wake() noexcept;

    /// Calls every `turn_start_listener` before anything else in the next turn, which comes soon.
    /// From any thread.
    void announce() noexcept;

    /// Starts a thread of its own that runs until `stop`. Once. After `stop` it only runs what is
    /// queued. Throws std::system_error when there is no thread to be had or the CPU does not
    /// exist.
    void start();
    /// The same on the calling thread; returns when stopped.
    void run_here();
    /// Runs on the calling thread whatever is ready, without waiting. For tests and tools that
    /// have no other thread; not while the shard runs.
    /// @return descriptors reported and batches of tasks run.
    std::size_t poll_here();

    /// Asks the shard to end; returns at once. From any thread, in any state, any number of times.
    /// The shard finishes its turn, refuses posts from then on, runs the tasks already queued and
    /// what asks for a next turn (at most `final_turn_limit` turns), and ends. For an orderly end
    /// close what has a descriptor before.
    void stop() noexcept;
    /// Waits until the shard's run has ended; returns at once when it never started. Not on the
    /// shard's own thread. Tasks that were queued and did not run are dropped and counted.
    void join();

    /// True from the first `stop` on.
    bool stopping() const noexcept { return closed_.load(std::memory_order_acquire); }

    bool on_this_thread() const noexcept { return current() == this; }
    /// The shard whose thread this is, or null.
    static shard* current() noexcept;

    /// False after an exception reached the shard. It goes on, but something is wrong.
    bool healthy() const noexcept { return faults_.load(std::memory_order_relaxed) == 0; }
    shard_statistics statistics() const noexcept;

    static constexpr std::size_t final_turn_limit = 65'536;
    /// Ready descriptors that share a turn, at most.
    static constexpr std::size_t events_per_turn = 16;

  private:
    friend class turn_scope;
    struct machinery;
    using turn_list = intrusive_list<turn_participant, turn_participant>;
    using after_list = intrusive_list<after_turn_participant, after_turn_participant>;
    using next_list = intrusive_list<next_turn_participant, next_turn_participant>;
    using listener_list = intrusive_list<turn_start_listener, turn_start_listener>;

    void begin_turn() noexcept {
        if (turn_depth_++ == 0) {
            now_ = clock_.now();
            if (announced_.load(std::memory_order_acquire)) {
                call_listeners();
            }
        }
    }
    void end_turn() noexcept {
        if (turn_depth_ == 1) {
            finish_turn();
        }
        --turn_depth_;
    }
    void call_listeners() noexcept;
    void finish_turn() noexcept;
    void take_next_turns(turn_budget& budget) noexcept;
    void run_tasks(turn_budget& budget) noexcept;
    void run_timers() noexcept;
    void on_wake() noexcept;
    void set_alarm() noexcept;
    std::size_t take_turn_of_events() noexcept;
    std::size_t take_events(bool may_wait) noexcept;
    void run();
    void run_to_the_end();
    void drop_tasks() noexcept;
    void fault(std::string_view where, std::string_view what) noexcept;
    template <class Function>
    void contain(std::string_view where, Function&& function) noexcept;

    std::unique_ptr<machinery> machinery_;
    poller poller_;
    const clock& clock_;
    bool ending_ = false;
    time_point now_{};
    std::size_t turn_depth_ = 0;
    turn_list turn_end_list_;
    after_list after_turn_list_;
    next_list next_turn_list_;
    listener_list listeners_;
    deadline_sweep sweep_;
    timing_wheel wheel_;
    time_point sweep_due_ = time_point::max();
    const bool clock_is_the_machines_;
    time_point alarm_at_ = time_point::max();  ///< what the poller's alarm is set for
    bool go_on_ = false;                       ///< this thread asked itself for another turn
    std::array<char, 16> name_{};
    std::size_t index_;
    int cpu_;
    fault_hook on_fault_;
    std::atomic<std::uint64_t> turns_{0};
    std::atomic<std::uint64_t> tasks_run_{0};
    std::atomic<std::uint64_t> tasks_dropped_{0};
    std::atomic<std::uint64_t> faults_{0};
    // Written by other threads.
    alignas(64) std::atomic<bool> announced_{false};
    std::atomic<bool> wake_pending_{false};
    std::atomic<bool> closed_{false};
    std::atomic<std::uint64_t> wake_ups_{0};
    std::atomic<std::uint64_t> tasks_refused_{0};
};

/// A part of a turn. The outermost one begins the turn, and ends it when destroyed. The shard opens
/// one around everything it calls; code that it did not call (a test, start-up) opens its own.
class turn_scope {
  public:
    explicit turn_scope(shard& owner) noexcept : shard_(owner) { shard_.begin_turn(); }
    ~turn_scope() { shard_.end_turn(); }
    turn_scope(const turn_scope&) = delete;
    turn_scope& operator=(const turn_scope&) = delete;

  private:
    shard& shard_;
};

}  // namespace tagferry::transport
