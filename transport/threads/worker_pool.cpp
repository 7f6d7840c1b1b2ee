#include "transport/threads/worker_pool.hpp"

#include "transport/memory/rings.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tagferry::transport {

namespace {

constexpr duration full_mailbox_pause = std::chrono::milliseconds{1};

void resume_owner(void* object, std::uint64_t token, std::uint64_t result) {
    const completion_token name{.index = static_cast<std::uint32_t>(token >> 32U),
                                .generation = static_cast<std::uint32_t>(token)};
    static_cast<completion_sink*>(object)->resume(name, static_cast<std::uint32_t>(result),
                                                  shard::current()->now());
}

}  // namespace

struct worker_pool::machinery {
    explicit machinery(const worker_pool_options& options)
        : name(options.name),
          thread_count(options.threads),
          nice(options.nice),
          on_fault(options.on_fault),
          queue(options.queue_capacity) {
        if (thread_count == 0) {
            throw std::invalid_argument("a worker pool has at least one thread");
        }
        sem_init(&jobs_waiting, 0, 0);
    }
    ~machinery() { sem_destroy(&jobs_waiting); }

    bool take(job& work);
    void work_off(std::size_t number);
    std::uint32_t call(job& work) noexcept;
    void complete(const job& work, std::uint32_t result) noexcept;

    const std::string name;
    const std::size_t thread_count;
    const int nice;
    const fault_hook on_fault;

    mpsc_ring<job> queue;
    std::mutex taking;   // the ring has one consumer; workers take turns, producers never wait
    sem_t jobs_waiting;  // raised after each job queued, and for each worker at the stop
    std::atomic<bool> stopping{false};
    std::atomic<std::uint64_t> submitting{0};

    std::mutex stopping_once;
    std::vector<std::thread> threads;

    std::mutex pausing;
    std::condition_variable pause;

    std::atomic<std::uint64_t> run{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> cancelled{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::uint64_t> faults{0};
};

bool worker_pool::machinery::take(job& work) {
    const std::lock_guard lock(taking);
    return queue.try_pop(work);
}

std::uint32_t worker_pool::machinery::call(job& work) noexcept {
    const auto fault = [&](std::string_view what) {
        faults.fetch_add(1, std::memory_order_relaxed);
        if (on_fault.report != nullptr) {
            on_fault.report(on_fault.context, name, "job", what);
        }
        return result_failed;
    };
    try {
        run.fetch_add(1, std::memory_order_relaxed);
        return work.run(work.object, work.payload);
    } catch (const std::exception& error) {
        return fault(error.what());
    } catch (...) {
        return fault("an exception of unknown type");
    }
}

void worker_pool::machinery::complete(const job& work, std::uint32_t result) noexcept {
    if (work.sink == nullptr) {
        return;
    }
    const task completion{.run = resume_owner,
                          .object = work.sink,
                          .a = std::uint64_t{work.token.index} << 32U | work.token.generation,
                          .b = result};
    // A worker can wait where a shard cannot: the completion is not given up while the owner may
    // still make room for it.
    while (!work.owner->post(completion)) {
        if (work.owner->stopping()) {
            lost.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        std::unique_lock lock(pausing);
        pause.wait_for(lock, full_mailbox_pause);
    }
}

void worker_pool::machinery::work_off(std::size_t number) {
    std::string thread_name = name.substr(0, 13) + "-" + std::to_string(number);
    thread_name.resize(std::min<std::size_t>(thread_name.size(), 15));
    pthread_setname_np(pthread_self(), thread_name.c_str());
    // On Linux a thread has a nice value of its own. Lowering one's priority is always allowed;
    // where raising it is too, a process started nicer than this keeps its workers there.
    const auto self = static_cast<id_t>(gettid());
    setpriority(PRIO_PROCESS, self, std::max(getpriority(PRIO_PROCESS, self), nice));
    while (!stopping.load(std::memory_order_acquire)) {
        while (sem_wait(&jobs_waiting) != 0) {
            // Interrupted by a signal.
        }
        // All there are, not one for each time it was woken: a job can be queued behind one whose
        // submitter has not finished writing it, and is then found by whoever that one wakes.
        job work;
        while (!stopping.load(std::memory_order_acquire) && take(work)) {
            complete(work, call(work));
        }
    }
}

worker_pool::worker_pool(const worker_pool_options& options)
    : machinery_(std::make_unique<machinery>(options)) {}

worker_pool::~worker_pool() {
    stop();
}

void worker_pool::start() {
    machinery& m = *machinery_;
    const std::lock_guard lock(m.stopping_once);
    if (m.stopping.load(std::memory_order_acquire) || !m.threads.empty()) {
        return;
    }
    m.threads.reserve(m.thread_count);
    for (std::size_t number = 0; number < m.thread_count; ++number) {
        m.threads.emplace_back([&m, number] { m.work_off(number); });
    }
}

// Sequentially consistent on purpose: either this sees `stopping`, or `stop` sees that it is
// being submitted and waits until the job is in the queue, from where it will be cancelled.
bool worker_pool::submit(const job& work) noexcept {
    machinery& m = *machinery_;
    m.submitting.fetch_add(1);
    const bool accepted = !m.stopping.load() && m.queue.try_push(work);
    if (accepted) {
        sem_post(&m.jobs_waiting);
    } else {
        m.refused.fetch_add(1, std::memory_order_relaxed);
    }
    m.submitting.fetch_sub(1);
    return accepted;
}

void worker_pool::stop() {
    machinery& m = *machinery_;
    m.stopping.store(true);
    const std::lock_guard lock(m.stopping_once);
    for (std::size_t i = 0; i < m.threads.size(); ++i) {
        sem_post(&m.jobs_waiting);
    }
    for (std::thread& thread : m.threads) {
        thread.join();
    }
    m.threads.clear();
    while (m.submitting.load() != 0) {
        std::this_thread::yield();
    }
    job work;
    while (m.take(work)) {
        m.cancelled.fetch_add(1, std::memory_order_relaxed);
        m.complete(work, result_cancelled);
    }
}

bool worker_pool::stopping() const noexcept {
    return machinery_->stopping.load(std::memory_order_acquire);
}

worker_pool_statistics worker_pool::statistics() const noexcept {
    const machinery& m = *machinery_;
    return {.run = m.run.load(std::memory_order_relaxed),
            .refused = m.refused.load(std::memory_order_relaxed),
            .cancelled = m.cancelled.load(std::memory_order_relaxed),
            .lost = m.lost.load(std::memory_order_relaxed),
            .faults = m.faults.load(std::memory_order_relaxed)};
}

}  // namespace tagferry::transport
