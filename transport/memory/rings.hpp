// Bounded rings of plain records between threads. Memory is taken once, at construction; a full
// ring refuses, and what that means (back-pressure, a drop that is counted) is the owner's
// business. All ordering is acquire and release on atomics, without fences.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace tagferry::transport {

/// Bytes between fields that different threads write.
inline constexpr std::size_t cache_line_size = 64;

/// Records a ring will make from the capacity asked for: the next power of two, at least 2.
/// Throws std::invalid_argument for 0 and for more than 2^31.
inline std::size_t ring_capacity(std::size_t asked) {
    if (asked == 0 || asked > (std::size_t{1} << 31U)) {
        throw std::invalid_argument("ring capacity must be 1 to 2^31");
    }
    return std::bit_ceil(asked < 2 ? std::size_t{2} : asked);
}

/// One producer thread, one consumer thread.
template <typename T>
class spsc_ring {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    /// @param capacity records, 1 to 2^31, rounded up to a power of two.
    explicit spsc_ring(std::size_t capacity)
        : mask_(ring_capacity(capacity) - 1), records_(std::make_unique<T[]>(mask_ + 1)) {}

    std::size_t capacity() const noexcept { return mask_ + 1; }

    /// Producer thread. False: full, nothing was stored.
    bool try_push(const T& record) noexcept {
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_seen_ > mask_) {
            head_seen_ = head_.load(std::memory_order_acquire);
            if (tail - head_seen_ > mask_) {
                return false;
            }
        }
        records_[tail & mask_] = record;
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }

    /// Consumer thread. False: empty, `record` is unchanged.
    bool try_pop(T& record) noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_seen_) {
            tail_seen_ = tail_.load(std::memory_order_acquire);
            if (head == tail_seen_) {
                return false;
            }
        }
        record = records_[head & mask_];
        head_.store(head + 1, std::memory_order_release);
        return true;
    }

    /// Records in the ring; exact on either of its threads for what that thread may rely on (the
    /// consumer finds at least this many, the producer may push at least the rest).
    std::size_t size() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_acquire);
        const std::uint64_t tail = tail_.load(std::memory_order_acquire);
        return tail < head ? 0 : static_cast<std::size_t>(tail - head);
    }
    bool empty() const noexcept { return size() == 0; }

  private:
    const std::size_t mask_;
    const std::unique_ptr<T[]> records_;
    alignas(cache_line_size) std::atomic<std::uint64_t> head_{0};  // next to pop
    std::uint64_t tail_seen_ = 0;                                  // consumer's last look at tail_
    alignas(cache_line_size) std::atomic<std::uint64_t> tail_{0};  // next to push
    std::uint64_t head_seen_ = 0;                                  // producer's last look at head_
};

/// Any number of producer threads, one consumer thread. Records of one producer stay in order.
template <typename T>
class mpsc_ring {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    /// @param capacity records, 1 to 2^31, rounded up to a power of two.
    explicit mpsc_ring(std::size_t capacity)
        : mask_(ring_capacity(capacity) - 1), cells_(std::make_unique<cell[]>(mask_ + 1)) {
        for (std::size_t index = 0; index <= mask_; ++index) {
            cells_[index].turn.store(index, std::memory_order_relaxed);
        }
    }

    std::size_t capacity() const noexcept { return mask_ + 1; }

    /// Any thread. False: full, nothing was stored.
    bool try_push(const T& record) noexcept {
        std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        for (;;) {
            cell& to = cells_[tail & mask_];
            // A cell's turn is the position that may be pushed into it next; one more while it
            // holds that position's record.
            const std::uint64_t turn = to.turn.load(std::memory_order_acquire);
            if (turn == tail) {
                if (tail_.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed)) {
                    to.record = record;
                    to.turn.store(tail + 1, std::memory_order_release);
                    return true;
                }
            } else if (turn < tail) {
                return false;
            } else {
                tail = tail_.load(std::memory_order_relaxed);
            }
        }
    }

    /// Consumer thread. False: empty, or the oldest record is still being written by its producer
    /// (which then wakes the consumer as for any push); `record` is unchanged.
    bool try_pop(T& record) noexcept {
        cell& from = cells_[head_ & mask_];
        if (from.turn.load(std::memory_order_acquire) != head_ + 1) {
            return false;
        }
        record = from.record;
        from.turn.store(head_ + mask_ + 1, std::memory_order_release);
        ++head_;
        return true;
    }

    /// Consumer thread. True when `try_pop` would find nothing.
    bool empty() const noexcept {
        return cells_[head_ & mask_].turn.load(std::memory_order_acquire) != head_ + 1;
    }

  private:
    struct cell {
        std::atomic<std::uint64_t> turn;
        T record;
    };

    const std::size_t mask_;
    const std::unique_ptr<cell[]> cells_;
    alignas(cache_line_size) std::atomic<std::uint64_t> tail_{0};  // next to push
    alignas(cache_line_size) std::uint64_t head_ = 0;              // next to pop, consumer's own
};

}  // namespace tagferry::transport
