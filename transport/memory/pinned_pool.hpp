// Fixed-size buffers in one page-locked region, rented and returned without atomics or malloc.
// A pool belongs to one shard thread.
#pragma once

#include "transport/memory/check.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace tagferry::transport {

class pinned_pool;

/// One rented slot; returns it when destroyed. Move-only. Empty when default-made, moved from, or
/// when the pool had none left.
class pooled_buffer {
  public:
    pooled_buffer() noexcept = default;
    pooled_buffer(pooled_buffer&& other) noexcept;
    pooled_buffer& operator=(pooled_buffer&& other) noexcept;
    ~pooled_buffer() { reset(); }

    explicit operator bool() const noexcept { return pool_ != nullptr; }
    /// The whole slot, `pinned_pool::slot_size()` bytes, aligned to 64. What a fresh slot holds is
    /// unspecified. Empty for an empty handle.
    std::span<std::byte> bytes() const noexcept;
    /// Returns the slot now.
    void reset() noexcept;

  private:
    friend class pinned_pool;
    pinned_pool* pool_ = nullptr;
    std::uint32_t slot_ = 0;
    std::uint32_t generation_ = 0;  // of the slot when it was rented; kept in debug builds
};

/// Told when a pool that refused has a slot again. Intrusive: waits in at most one pool, and stops
/// waiting when destroyed.
class pool_waiter {
  public:
    pool_waiter() noexcept = default;
    pool_waiter(const pool_waiter&) = delete;
    pool_waiter& operator=(const pool_waiter&) = delete;

    /// A slot came back; this waiter is no longer in the list. Called on the stack of whoever
    /// returned it, so only take a note (mark the turn's end) and rent later. All who waited are
    /// told, those who waited longest first, so the slot may be gone by then: wait again.
    virtual void slot_returned() noexcept = 0;

    bool waiting() const noexcept { return pool_ != nullptr; }

  protected:
    virtual ~pool_waiter();

  private:
    friend class pinned_pool;
    pinned_pool* pool_ = nullptr;
    pool_waiter* previous_ = nullptr;
    pool_waiter* next_ = nullptr;
};

struct pinned_pool_options {
    std::string_view name;       ///< metric label, static storage, e.g. "opcua_response"
    std::size_t slot_size = 0;   ///< bytes usable in a slot, over 0
    std::size_t slot_count = 0;  ///< the hard cap, 1 to 2^32 - 1
};

/// What `/metrics` shows of one pool. Several pools (one per shard) may share a name.
struct pool_statistics {
    std::string_view name;
    std::size_t slot_size = 0;
    std::size_t slot_count = 0;
    std::uint64_t rents = 0;       ///< tagferry_pool_rents_total
    std::uint64_t refusals = 0;    ///< tagferry_pool_refusals_total
    std::uint64_t high_water = 0;  ///< tagferry_pool_high_water, slots out at once
    /// tagferry_pool_locked_bytes: the region, whose pages are locked as they are first touched; 0
    /// when not locked.
    std::uint64_t locked_bytes = 0;
};

/// All slots lie in one region reserved at construction; a page is committed, and locked where the
/// process may (RLIMIT_MEMLOCK), when it is first touched. Where locking is not permitted
/// `locked()` is false and the pool works unlocked. Every handle must be returned before the pool
/// is destroyed. Debug builds abort, naming pool and slot, when a slot is returned twice, written
/// after its return or written past its end.
class pinned_pool {
  public:
    /// Throws std::system_error when the region cannot be reserved, std::invalid_argument when an
    /// option is out of range.
    explicit pinned_pool(const pinned_pool_options& options);
    ~pinned_pool();
    pinned_pool(const pinned_pool&) = delete;
    pinned_pool& operator=(const pinned_pool&) = delete;

    /// A free slot, or an empty handle when all are out: back-pressure for the caller.
    pooled_buffer rent() noexcept;

    /// Asks to be told once, about the next return. Everyone is told rather than one for each
    /// slot: whoever is told may be closing, or need no slot any more, and the others would then
    /// wait for ever. Does nothing when already waiting here.
    void wait(pool_waiter& waiter) noexcept;
    void stop_waiting(pool_waiter& waiter) noexcept;

    std::string_view name() const noexcept { return name_; }
    std::size_t slot_size() const noexcept { return slot_size_; }
    std::size_t slot_count() const noexcept { return slot_count_; }
    std::size_t free_count() const noexcept { return free_count_; }
    bool locked() const noexcept { return !lock_error_; }
    /// Why `locked()` is false, for a line in the log; clear when it is true.
    std::error_code lock_error() const noexcept { return lock_error_; }

    /// Any thread. Each value may be a moment old.
    pool_statistics statistics() const noexcept;

    /// Calls `visit(const pool_statistics&)` for every pool of the process, in order of
    /// construction. Any thread; pools cannot be made or destroyed meanwhile, so `visit` must do
    /// neither.
    template <typename Visit>
    static void for_each_statistics(Visit&& visit) {
        visit_all(
            [](void* context, const pool_statistics& statistics) {
                (*static_cast<std::remove_reference_t<Visit>*>(context))(statistics);
            },
            const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
    }

  private:
    friend class pooled_buffer;

    // Written by the pool's thread only, so a load and a store make an increment.
    using counter = std::atomic<std::uint64_t>;
    static void increment(counter& value) noexcept {
        value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    static void visit_all(void (*visit)(void*, const pool_statistics&), void* context);
    std::byte* slot_address(std::uint32_t slot) const noexcept { return region_ + slot * stride_; }
    void give_back(std::uint32_t slot, std::uint32_t generation) noexcept;
    void wake_waiters() noexcept;
    std::uint32_t check_rented(std::uint32_t slot) noexcept;
    void check_returned(std::uint32_t slot, std::uint32_t generation) noexcept;

    // What rent and return touch, first.
    std::byte* region_ = nullptr;
    std::size_t stride_;
    std::size_t slot_size_;
    std::size_t slot_count_;
    std::size_t free_count_;
    std::unique_ptr<std::uint32_t[]> free_slots_;  // a stack: the slot returned last is the warmest
    pool_waiter* first_waiter_ = nullptr;
    pool_waiter* last_waiter_ = nullptr;
    counter rents_{0};
    counter high_water_{0};
    counter refusals_{0};

    std::string_view name_;
    std::size_t region_size_;
    std::error_code lock_error_;
    std::unique_ptr<std::uint32_t[]> generations_;  // debug builds: odd while rented
    pinned_pool* next_pool_ = nullptr;              // the process's list of pools
};

inline pooled_buffer::pooled_buffer(pooled_buffer&& other) noexcept
    : pool_(other.pool_), slot_(other.slot_), generation_(other.generation_) {
    other.pool_ = nullptr;
}

inline pooled_buffer& pooled_buffer::operator=(pooled_buffer&& other) noexcept {
    if (this != &other) {
        reset();
        pool_ = other.pool_;
        slot_ = other.slot_;
        generation_ = other.generation_;
        other.pool_ = nullptr;
    }
    return *this;
}

inline std::span<std::byte> pooled_buffer::bytes() const noexcept {
    if (pool_ == nullptr) {
        return {};
    }
    return {pool_->slot_address(slot_), pool_->slot_size_};
}

inline void pooled_buffer::reset() noexcept {
    if (pool_ != nullptr) {
        pool_->give_back(slot_, generation_);
        pool_ = nullptr;
    }
}

inline pooled_buffer pinned_pool::rent() noexcept {
    pooled_buffer rented;
    if (free_count_ == 0) {
        increment(refusals_);
        return rented;
    }
    rented.pool_ = this;
    rented.slot_ = free_slots_[--free_count_];
    increment(rents_);
    const std::size_t out = slot_count_ - free_count_;
    if (out > high_water_.load(std::memory_order_relaxed)) {
        high_water_.store(out, std::memory_order_relaxed);
    }
    if constexpr (debug_checks) {
        rented.generation_ = check_rented(rented.slot_);
    }
    return rented;
}

inline void pinned_pool::give_back(std::uint32_t slot, std::uint32_t generation) noexcept {
    if constexpr (debug_checks) {
        check_returned(slot, generation);
    }
    free_slots_[free_count_++] = slot;
    if (first_waiter_ != nullptr) {
        wake_waiters();
    }
}

inline pool_waiter::~pool_waiter() {
    if (pool_ != nullptr) {
        pool_->stop_waiting(*this);
    }
}

}  // namespace tagferry::transport
