#include "transport/threads/storage_thread.hpp"

#include "transport/threads/record_ring.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <array>
#include <bit>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

namespace tagferry::transport {

namespace {

constexpr std::size_t least_capacity = 4096;
constexpr duration flush_retry = std::chrono::milliseconds{1};

void count_one(std::atomic<std::uint64_t>& counter) noexcept {
    counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

struct storage_thread::machinery {
    explicit machinery(const storage_options& options)
        : name(options.name),
          on_fault(options.on_fault),
          droppable(std::max(options.droppable_capacity, least_capacity)),
          kept(std::max(options.kept_capacity, least_capacity)) {
        sem_init(&awake, 0, 0);
    }
    ~machinery() { sem_destroy(&awake); }

    bool push(record_ring& ring, record_kind kind, std::span<const std::byte> record) noexcept;
    void wake() noexcept;
    void run();
    std::uint64_t drain(record_ring& ring);
    void drain_to_marks(std::uint64_t kept_mark, std::uint64_t droppable_mark);
    void write(record_kind kind, std::span<const std::byte> record) noexcept;
    void report_drops(std::size_t kind) noexcept;
    void flush_sinks() noexcept;
    template <class Function>
    void contain(Function&& function) noexcept;

    const std::string name;
    const fault_hook on_fault;
    std::array<storage_sink*, max_record_kinds> sinks{};

    record_ring droppable;
    record_ring kept;
    sem_t awake;
    std::atomic<bool> wake_pending{false};
    std::atomic<bool> stopping{false};   // nothing is accepted any more
    std::atomic<bool> finishing{false};  // nothing more will come: write the rest and end
    std::atomic<std::uint64_t> pushing{0};

    std::mutex mutex;  // of what follows
    std::condition_variable flushed;
    std::uint64_t flushes_wanted = 0;
    std::uint64_t flushes_done = 0;
    bool running = false;
    bool finished = false;
    std::thread thread;

    // The storage thread's own.
    std::array<bool, max_record_kinds> unflushed{};
    std::array<std::uint64_t, max_record_kinds> drops_reported{};

    std::array<std::atomic<std::uint64_t>, max_record_kinds> drops{};
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> faults{0};
};

// Sequentially consistent on purpose: either this sees `stopping`, or `stop` sees that something
// is being pushed and waits until it can be drained.
bool storage_thread::machinery::push(record_ring& ring, record_kind kind,
                                     std::span<const std::byte> record) noexcept {
    pushing.fetch_add(1);
    const bool pushed = static_cast<std::size_t>(kind) < max_record_kinds && !stopping.load() &&
                        ring.try_push(static_cast<std::uint8_t>(kind), record);
    pushing.fetch_sub(1);
    if (pushed) {
        wake();
    }
    return pushed;
}

void storage_thread::machinery::wake() noexcept {
    if (!wake_pending.exchange(true, std::memory_order_acq_rel)) {
        sem_post(&awake);
    }
}

template <class Function>
void storage_thread::machinery::contain(Function&& function) noexcept {
    const auto fault = [&](std::string_view what) {
        count_one(faults);
        if (on_fault.report != nullptr) {
            on_fault.report(on_fault.context, name, "storage sink", what);
        }
    };
    try {
        function();
    } catch (const std::exception& error) {
        fault(error.what());
    } catch (...) {
        fault("an exception of unknown type");
    }
}

void storage_thread::machinery::report_drops(std::size_t kind) noexcept {
    const std::uint64_t now = drops[kind].load(std::memory_order_relaxed);
    const std::uint64_t unreported = now - drops_reported[kind];
    if (unreported != 0 && sinks[kind] != nullptr) {
        drops_reported[kind] = now;
        unflushed[kind] = true;
        contain([&] { sinks[kind]->dropped(static_cast<record_kind>(kind), unreported); });
    }
}

void storage_thread::machinery::write(record_kind kind,
                                      std::span<const std::byte> record) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    if (sinks[index] == nullptr) {
        return;
    }
    report_drops(index);
    unflushed[index] = true;
    contain([&] {
        sinks[index]->write(kind, record);
        count_one(written);
    });
}

/// Writes what the ring holds, a ringful at most so that everyone else gets a share.
/// @return bytes freed in the ring.
std::uint64_t storage_thread::machinery::drain(record_ring& ring) {
    const std::uint64_t begin = ring.freed();
    while (ring.freed() - begin < ring.capacity() &&
           ring.try_pop([&](std::uint8_t kind, std::span<const std::byte> record) {
               write(static_cast<record_kind>(kind), record);
           })) {
    }
    return ring.freed() - begin;
}

void storage_thread::machinery::flush_sinks() noexcept {
    for (std::size_t kind = 0; kind < max_record_kinds; ++kind) {
        report_drops(kind);
    }
    for (std::size_t kind = 0; kind < max_record_kinds; ++kind) {
        if (!unflushed[kind]) {
            continue;
        }
        // A sink of several kinds is flushed once.
        for (std::size_t other = kind; other < max_record_kinds; ++other) {
            unflushed[other] = unflushed[other] && sinks[other] != sinks[kind];
        }
        contain([&] { sinks[kind]->flush(); });
    }
}

/// Drains both rings up to these marks of `record_ring::taken`. A producer may have been
/// interrupted between taking its room and finishing its record: it is waited for.
void storage_thread::machinery::drain_to_marks(std::uint64_t kept_mark,
                                               std::uint64_t droppable_mark) {
    while (kept.freed() < kept_mark || droppable.freed() < droppable_mark) {
        if (drain(kept) + drain(droppable) == 0) {
            std::unique_lock lock(mutex);
            flushed.wait_for(lock, flush_retry);
        }
    }
}

void storage_thread::machinery::run() {
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
    for (bool last = false; !last;) {
        while (sem_wait(&awake) != 0) {
            // Interrupted by a signal.
        }
        wake_pending.exchange(false, std::memory_order_acq_rel);
        last = finishing.load(std::memory_order_acquire);
        std::uint64_t wanted = 0;
        bool somebody_waits = false;
        {
            const std::lock_guard lock(mutex);
            wanted = flushes_wanted;
            somebody_waits = wanted != flushes_done;
        }
        if (somebody_waits || last) {
            drain_to_marks(kept.taken(), droppable.taken());
        } else if (const bool kept_left = drain(kept) >= kept.capacity();
                   drain(droppable) >= droppable.capacity() || kept_left) {
            wake();
        }
        flush_sinks();
        const std::lock_guard lock(mutex);
        flushes_done = wanted;
        running = !last;
        finished = last;
        flushed.notify_all();
    }
}

storage_thread::storage_thread(const storage_options& options)
    : machinery_(std::make_unique<machinery>(options)) {}

storage_thread::~storage_thread() {
    stop();
}

void storage_thread::set_sink(record_kind kind, storage_sink& sink) noexcept {
    machinery_->sinks.at(static_cast<std::size_t>(kind)) = &sink;
}

void storage_thread::start() {
    machinery& m = *machinery_;
    const std::lock_guard lock(m.mutex);
    if (m.stopping.load() || m.running) {
        return;
    }
    m.thread = std::thread([&m] { m.run(); });
    m.running = true;
}

bool storage_thread::offer(record_kind kind, std::span<const std::byte> record) noexcept {
    if (machinery_->push(machinery_->droppable, kind, record)) {
        return true;
    }
    count_one(machinery_->drops[static_cast<std::size_t>(kind) % max_record_kinds]);
    return false;
}

bool storage_thread::keep(record_kind kind, std::span<const std::byte> record) noexcept {
    if (machinery_->push(machinery_->kept, kind, record)) {
        return true;
    }
    count_one(machinery_->refused);
    return false;
}

std::size_t storage_thread::max_record_size() const noexcept {
    return std::min(machinery_->droppable.max_record_size(), machinery_->kept.max_record_size());
}

void storage_thread::flush() {
    machinery& m = *machinery_;
    std::unique_lock lock(m.mutex);
    if (!m.running) {
        return;
    }
    const std::uint64_t mine = ++m.flushes_wanted;
    m.wake();
    m.flushed.wait(lock, [&] { return m.flushes_done >= mine || !m.running; });
}

void storage_thread::stop() {
    machinery& m = *machinery_;
    m.stopping.store(true);
    while (m.pushing.load() != 0) {
        std::this_thread::yield();
    }
    m.finishing.store(true, std::memory_order_release);
    m.wake();
    std::unique_lock lock(m.mutex);
    m.flushed.wait(lock, [&] { return !m.running; });
    if (m.thread.joinable()) {
        m.thread.join();
    }
    // What was accepted by one that was never started is written here.
    if (!m.finished) {
        m.finished = true;
        m.drain_to_marks(m.kept.taken(), m.droppable.taken());
        m.flush_sinks();
    }
}

storage_statistics storage_thread::statistics() const noexcept {
    const machinery& m = *machinery_;
    std::uint64_t dropped = 0;
    for (const auto& drops : m.drops) {
        dropped += drops.load(std::memory_order_relaxed);
    }
    return {.written = m.written.load(std::memory_order_relaxed),
            .dropped = dropped,
            .refused = m.refused.load(std::memory_order_relaxed),
            .faults = m.faults.load(std::memory_order_relaxed)};
}

}  // namespace tagferry::transport
