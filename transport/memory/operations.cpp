#include "transport/memory/operations.hpp"

#include "transport/memory/check.hpp"
#include "transport/memory/operation_batch.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>

// Everything here may run inside malloc, before main and while a thread dies: no allocation, no
// constructor at start-up, and thread-local data that the loader lays out with the thread.

namespace tagferry::transport {

/// Defined by transport/memory/interpose_malloc.cpp where that is linked in.
extern "C" [[gnu::weak]] bool tagferry_malloc_interposed() noexcept;

namespace {

constexpr std::size_t bucket_count = operation_duration_bounds_s.size() + 1;
// Threads with counters of their own at once; further ones share, with slower increments.
constexpr std::size_t max_blocks = 128;

using counter = std::atomic<std::uint64_t>;

struct kind_counters {
    counter operations{0};
    counter allocations{0};
    counter allocated_bytes{0};
    counter duration_ns{0};
    std::array<counter, bucket_count> duration_buckets{};
};

// The counters of one thread, the only one that writes them. When it ends, another thread takes
// the block over and counts on from there: so totals include the dead and never fall.
struct alignas(64) counter_block {
    std::atomic<bool> taken{false};
    std::array<kind_counters, max_operation_kinds> kinds{};
};

enum class attachment : std::uint8_t { none, attaching, own_block, shared };

struct thread_state {
    counter_block* block = nullptr;
    attachment attached = attachment::none;
    std::uint8_t kind = kind_other.index();
};

constinit std::array<counter_block, max_blocks> blocks{};
constinit counter_block shared_block{};
constinit std::atomic<std::size_t> blocks_used{0};

[[gnu::tls_model("initial-exec")]] constinit thread_local thread_state this_thread{};

constinit std::mutex names_mutex;
constinit std::array<std::string_view, max_operation_kinds> names{"other", "control"};
constinit std::atomic<std::size_t> names_used{2};

constexpr auto duration_bounds_ns = [] {
    std::array<std::uint64_t, operation_duration_bounds_s.size()> bounds{};
    for (std::size_t index = 0; index < bounds.size(); ++index) {
        const std::chrono::duration<double> bound(operation_duration_bounds_s[index]);
        const auto bound_ns = std::chrono::round<std::chrono::nanoseconds>(bound).count();
        bounds[index] = static_cast<std::uint64_t>(bound_ns);
    }
    return bounds;
}();

pthread_key_t exit_key;
pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
bool exit_key_made = false;

// Runs as the thread ends. What it still allocates afterwards, in other threads' clean-up, goes to
// the shared block.
void detach_thread(void* block) {
    this_thread.attached = attachment::shared;
    this_thread.block = nullptr;
    static_cast<counter_block*>(block)->taken.store(false, std::memory_order_release);
}

void make_exit_key() {
    exit_key_made = pthread_key_create(&exit_key, detach_thread) == 0;
}

counter_block* take_block() noexcept {
    for (std::size_t index = 0; index < max_blocks; ++index) {
        bool expected = false;
        if (!blocks[index].taken.load(std::memory_order_relaxed) &&
            blocks[index].taken.compare_exchange_strong(expected, true,
                                                        std::memory_order_acquire)) {
            std::size_t used = blocks_used.load(std::memory_order_relaxed);
            while (used <= index &&
                   !blocks_used.compare_exchange_weak(used, index + 1, std::memory_order_release)) {
            }
            return &blocks[index];
        }
    }
    return nullptr;
}

// The thread's first count. pthread_setspecific may itself allocate: that one comes back here
// while `attaching` and goes to the shared block.
void attach_thread() noexcept {
    this_thread.attached = attachment::attaching;
    pthread_once(&exit_key_once, make_exit_key);
    counter_block* const block = exit_key_made ? take_block() : nullptr;
    if (block == nullptr || pthread_setspecific(exit_key, block) != 0) {
        if (block != nullptr) {
            block->taken.store(false, std::memory_order_release);
        }
        this_thread.attached = attachment::shared;
        return;
    }
    this_thread.block = block;
    this_thread.attached = attachment::own_block;
}

// Adds to this thread's counters: a plain load and store where it is the only writer.
class adder {
  public:
    adder() noexcept {
        if (this_thread.attached == attachment::none) {
            attach_thread();
        }
        own_ = this_thread.attached == attachment::own_block;
        block_ = own_ ? this_thread.block : &shared_block;
    }
    kind_counters& kind(std::size_t index) const noexcept { return block_->kinds[index]; }
    void add(counter& to, std::uint64_t value) const noexcept {
        if (own_) {
            to.store(to.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
        } else {
            to.fetch_add(value, std::memory_order_relaxed);
        }
    }

  private:
    counter_block* block_;
    bool own_;
};

void sum_block(const counter_block& block,
               std::array<operation_totals, max_operation_kinds>& totals) noexcept {
    constexpr auto relaxed = std::memory_order_relaxed;
    for (std::size_t kind = 0; kind < max_operation_kinds; ++kind) {
        const kind_counters& from = block.kinds[kind];
        operation_totals& to = totals[kind];
        to.operations += from.operations.load(relaxed);
        to.allocations += from.allocations.load(relaxed);
        to.allocated_bytes += from.allocated_bytes.load(relaxed);
        to.duration_sum_s += static_cast<double>(from.duration_ns.load(relaxed)) * 1e-9;
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
            to.duration_buckets[bucket] += from.duration_buckets[bucket].load(relaxed);
        }
    }
}

}  // namespace

operation_kind register_operation_kind(std::string_view name) noexcept {
    const std::lock_guard lock(names_mutex);
    const std::size_t used = names_used.load(std::memory_order_relaxed);
    const auto known = std::find(names.begin(), names.begin() + used, name);
    const auto index = static_cast<std::size_t>(known - names.begin());
    if (index == max_operation_kinds) {
        die("too many operation kinds", name, max_operation_kinds);
    }
    if (index == used) {
        names[index] = name;
        names_used.store(used + 1, std::memory_order_release);
    }
    return operation_kind{static_cast<std::uint8_t>(index)};
}

std::span<const std::string_view> operation_kind_names() noexcept {
    return {names.data(), names_used.load(std::memory_order_acquire)};
}

operation_scope::operation_scope(operation_kind kind) noexcept : previous_(this_thread.kind) {
    this_thread.kind = kind.index();
}

operation_scope::~operation_scope() {
    this_thread.kind = previous_;
}

void count_operation(operation_kind kind, std::chrono::nanoseconds elapsed) noexcept {
    count_operations(kind, 1, elapsed);
}

void count_operations(operation_kind kind, std::uint64_t count,
                      std::chrono::nanoseconds elapsed) noexcept {
    const auto signed_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
    const auto elapsed_ns = signed_ns < 0 ? 0 : static_cast<std::uint64_t>(signed_ns);
    std::size_t bucket = 0;
    while (bucket < duration_bounds_ns.size() && elapsed_ns > duration_bounds_ns[bucket]) {
        ++bucket;
    }
    const adder thread;
    kind_counters& counters = thread.kind(kind.index());
    thread.add(counters.operations, count);
    thread.add(counters.duration_ns, count * elapsed_ns);
    thread.add(counters.duration_buckets[bucket], count);
}

void count_allocation(std::size_t size) noexcept {
    const adder thread;
    kind_counters& counters = thread.kind(this_thread.kind);
    thread.add(counters.allocations, 1);
    thread.add(counters.allocated_bytes, size);
}

std::array<operation_totals, max_operation_kinds> operation_totals_now() noexcept {
    std::array<operation_totals, max_operation_kinds> totals{};
    const std::size_t used = blocks_used.load(std::memory_order_acquire);
    for (std::size_t index = 0; index < used; ++index) {
        sum_block(blocks[index], totals);
    }
    sum_block(shared_block, totals);
    return totals;
}

bool allocation_counting_enabled() noexcept {
    return tagferry_malloc_interposed != nullptr && tagferry_malloc_interposed();
}

}  // namespace tagferry::transport
