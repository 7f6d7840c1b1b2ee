#include "transport/threads/shard.hpp"

#include "transport/memory/rings.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace tagferry::transport {

namespace {

thread_local shard* shard_of_this_thread = nullptr;

/// Says whose thread this is while it exists.
class thread_mark {
  public:
    explicit thread_mark(shard& owner) noexcept : previous_(shard_of_this_thread) {
        shard_of_this_thread = &owner;
    }
    ~thread_mark() { shard_of_this_thread = previous_; }
    thread_mark(const thread_mark&) = delete;
    thread_mark& operator=(const thread_mark&) = delete;

  private:
    shard* previous_;
};

void stay_on_cpu(pthread_t thread, int cpu) {
    if (cpu < 0) {
        return;
    }
    int error = EINVAL;
    if (cpu < CPU_SETSIZE) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<std::size_t>(cpu), &set);
        error = pthread_setaffinity_np(thread, sizeof set, &set);
    }
    if (error != 0) {
        throw std::system_error(error, std::generic_category(),
                                "cannot pin a thread to CPU " + std::to_string(cpu));
    }
}

/// For counters with one writing thread: no locked instruction.
void count_one(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

enum class run_state { not_started, running, ended };

}  // namespace

struct shard::machinery {
    explicit machinery(std::size_t mailbox_capacity) : mailbox(mailbox_capacity) {}

    mpsc_ring<task> mailbox;

    std::mutex mutex;  // of what follows
    std::condition_variable ended;
    run_state state = run_state::not_started;
    std::thread thread;
};

shard::shard(const shard_options& options, const clock& source)
    : machinery_(std::make_unique<machinery>(options.mailbox_capacity)),
      clock_(source),
      now_(source.now()),
      wheel_(now_),
      clock_is_the_machines_(dynamic_cast<const real_clock*>(&source) != nullptr),
      index_(options.index),
      cpu_(options.cpu),
      on_fault_(options.on_fault) {
    options.name.copy(name_.data(), name_.size() - 1);
}

shard::~shard() {
    stop();
    join();
}

shard* shard::current() noexcept {
    return shard_of_this_thread;
}

template <class Function>
void shard::contain(std::string_view where, Function&& function) noexcept {
    try {
        function();
    } catch (const std::exception& error) {
        fault(where, error.what());
    } catch (...) {
        fault(where, "an exception of unknown type");
    }
}

void shard::fault(std::string_view where, std::string_view what) noexcept {
    count_one(faults_);
    if (on_fault_.report != nullptr) {
        on_fault_.report(on_fault_.context, name(), where, what);
    }
}

// The flag is exchanged, not stored and loaded: whoever finds it set has written into the same
// chain of changes from which `on_wake` reads, so its task is seen there.
void shard::wake() noexcept {
    if (on_this_thread()) {
        go_on_ = true;
        return;
    }
    if (wake_pending_.exchange(true, std::memory_order_acq_rel)) {
        return;
    }
    wake_ups_.fetch_add(1, std::memory_order_relaxed);
    poller_.wake();
}

bool shard::post(const task& work) noexcept {
    if (closed_.load(std::memory_order_acquire) || !machinery_->mailbox.try_push(work)) {
        tasks_refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    wake();
    return true;
}

void shard::announce() noexcept {
    announced_.store(true, std::memory_order_release);
    wake();
}

void shard::at_next_turn(next_turn_participant& participant) noexcept {
    if (!next_list::linked(participant)) {
        next_turn_list_.push_back(participant);
        go_on_ = true;
    }
}

void shard::add(sweep_participant& participant) noexcept {
    sweep_.add(participant);
    if (sweep_due_ == time_point::max()) {
        sweep_due_ = clock_.now() + sweep_interval;
    }
}

void shard::call_listeners() noexcept {
    announced_.exchange(false, std::memory_order_acq_rel);
    listener_list heard;
    while (turn_start_listener* const listener = listeners_.pop_front()) {
        heard.push_back(*listener);
        listener->turn_starts();
    }
    listeners_.splice_back(heard);
}

void shard::take_next_turns(turn_budget& budget) noexcept {
    // Those who ask again while they are called wait for the turn after this one.
    next_list called;
    called.splice_back(next_turn_list_);
    while (!called.empty() && budget.spend()) {
        next_turn_participant& participant = *called.pop_front();
        contain("next turn", [&] { participant.next_turn(now_); });
    }
    called.splice_back(next_turn_list_);
    next_turn_list_.splice_back(called);
}

void shard::run_tasks(turn_budget& budget) noexcept {
    task work;
    while (!machinery_->mailbox.empty() && budget.spend()) {
        if (!machinery_->mailbox.try_pop(work)) {
            return;
        }
        count_one(tasks_run_);
        contain("task", [&] { work.run(work.object, work.a, work.b); });
    }
}

void shard::on_wake() noexcept {
    go_on_ = false;
    wake_pending_.exchange(false, std::memory_order_acq_rel);
    const turn_scope turn(*this);
    turn_budget budget(clock_, now_);
    take_next_turns(budget);
    run_tasks(budget);
    if (!next_turn_list_.empty() || !machinery_->mailbox.empty()) {
        go_on_ = true;
    }
}

void shard::run_timers() noexcept {
    turn_budget budget(clock_, now_);
    if (wheel_.wake_time() <= now_) {
        contain("timer", [&] { wheel_.advance(now_, budget); });
    }
    if (sweep_due_ <= now_) {
        contain("deadline", [&] {
            if (sweep_.run(now_, budget)) {
                sweep_due_ = sweep_.empty() ? time_point::max() : now_ + sweep_interval;
            }
        });
    }
}

void shard::finish_turn() noexcept {
    count_one(turns_);
    if (!ending_ && std::min(wheel_.wake_time(), sweep_due_) <= now_) {
        run_timers();
        if (std::min(wheel_.wake_time(), sweep_due_) <= now_) {
            // More is due than this turn could do.
            go_on_ = true;
        }
    }
    // One less: the budget is asked after each.
    turn_budget budget(clock_, now_, turn_item_limit - 1);
    for (;;) {
        if (turn_participant* const acting = turn_end_list_.pop_front()) {
            contain("end of turn", [&] { acting->end_turn(now_); });
        } else if (after_turn_participant* const after = after_turn_list_.pop_front()) {
            contain("after turn", [&] { after->after_turn(now_); });
        } else {
            break;
        }
        if (!budget.spend()) [[unlikely]] {
            go_on_ = true;
            break;
        }
    }
}

/// Sets the poller's alarm when something is due earlier than it rings. A later time waits for the
/// ring: it costs one turn, and most times set are never reached.
void shard::set_alarm() noexcept {
    const time_point due = std::min(wheel_.wake_time(), sweep_due_);
    if (due >= alarm_at_) {
        return;
    }
    alarm_at_ = due;
    poller_.set_alarm(clock_is_the_machines_ ? due
                                             : std::chrono::steady_clock::now() + (due - now_));
}

/// One turn of ready descriptors. All receive before any sends: the code of each step, the kernel's
/// above all, stays in the cache for all of them, and the clock is read once.
std::size_t shard::take_turn_of_events() noexcept {
    const turn_scope turn(*this);
    // One less: the budget is asked after each.
    turn_budget budget(clock_, now_, events_per_turn - 1);
    std::size_t taken = 0;
    readiness what(0);
    while (descriptor_watcher* const watcher = poller_.next(what)) {
        ++taken;
        contain("descriptor", [&] { watcher->ready(what); });
        if (!budget.spend()) {
            break;
        }
    }
    return taken;
}

/// Lets everything that is ready take its turn.
/// @return turns taken.
std::size_t shard::take_events(bool may_wait) noexcept {
    set_alarm();
    const bool wakes = go_on_ || wake_pending_.load(std::memory_order_acquire);
    poller_.wait(may_wait && !wakes);
    std::size_t taken = 0;
    if (go_on_ || wake_pending_.load(std::memory_order_acquire)) {
        on_wake();
        ++taken;
    }
    while (poller_.has_more()) {
        taken += take_turn_of_events();
    }
    if (poller_.take_alarm()) {
        alarm_at_ = time_point::max();
        const turn_scope turn(*this);  // whose end does what is due
    }
    return taken;
}

void shard::run() {
    const thread_mark mark(*this);
    {
        // Takes over what was announced before the start.
        const turn_scope turn(*this);
    }
    while (!stopping()) {
        take_events(true);
    }
    run_to_the_end();
    const std::lock_guard lock(machinery_->mutex);
    machinery_->state = run_state::ended;
    machinery_->ended.notify_all();
}

void shard::run_to_the_end() {
    ending_ = true;
    go_on_ = true;
    for (std::size_t turns = 0; go_on_ && turns < final_turn_limit; ++turns) {
        on_wake();
    }
}

void shard::start() {
    const std::lock_guard lock(machinery_->mutex);
    if (machinery_->state != run_state::not_started) {
        throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                                "a shard starts once");
    }
    machinery_->thread = std::thread([this] {
        pthread_setname_np(pthread_self(), name_.data());
        run();
    });
    machinery_->state = run_state::running;
    try {
        stay_on_cpu(machinery_->thread.native_handle(), cpu_);
    } catch (...) {
        stop();
        throw;
    }
}

void shard::run_here() {
    stay_on_cpu(pthread_self(), cpu_);
    {
        const std::lock_guard lock(machinery_->mutex);
        if (machinery_->state != run_state::not_started) {
            throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                                    "a shard starts once");
        }
        machinery_->state = run_state::running;
    }
    run();
}

std::size_t shard::poll_here() {
    const thread_mark mark(*this);
    go_on_ = true;
    std::size_t handled = 0;
    for (std::size_t taken = 1; taken != 0 || go_on_; handled += taken) {
        taken = take_events(false);
    }
    return handled;
}

void shard::stop() noexcept {
    if (!closed_.exchange(true, std::memory_order_acq_rel)) {
        poller_.wake();
    }
}

void shard::join() {
    std::unique_lock lock(machinery_->mutex);
    machinery_->ended.wait(lock, [&] { return machinery_->state != run_state::running; });
    if (machinery_->thread.joinable()) {
        machinery_->thread.join();
    }
    if (closed_.load(std::memory_order_acquire)) {
        drop_tasks();
    }
}

void shard::drop_tasks() noexcept {
    task dropped;
    while (machinery_->mailbox.try_pop(dropped)) {
        count_one(tasks_dropped_);
    }
}

shard_statistics shard::statistics() const noexcept {
    return {.turns = turns_.load(std::memory_order_relaxed),
            .wake_ups = wake_ups_.load(std::memory_order_relaxed),
            .tasks_run = tasks_run_.load(std::memory_order_relaxed),
            .tasks_refused = tasks_refused_.load(std::memory_order_relaxed),
            .tasks_dropped = tasks_dropped_.load(std::memory_order_relaxed),
            .faults = faults_.load(std::memory_order_relaxed)};
}

}  // namespace tagferry::transport
