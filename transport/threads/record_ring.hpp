// Bounded ring of byte records of any length, from any number of threads to one. Memory is taken
// once; a record lies in one piece; a full ring refuses.
//
//   tail (consumer)                      head (producers)
//    |                                    |
//    [size kind|bytes....][size kind|by..][0000 free, all zero 0000]
//
// A producer moves `head_` over the room it takes, writes the bytes and last the record's header
// word, which is zero until then. The consumer zeroes what it has read before it moves `tail_`.
// A producer that finds the ring empty beyond its first 64 KiB begins at the front again, so that
// a large ring whose consumer keeps up does not use its memory whole.
#pragma once

#include "transport/memory/rings.hpp"
#include "transport/memory/zeroed_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

namespace tagferry::transport {

class record_ring {
  public:
    /// @param capacity bytes, 64 to 2^31, rounded up to a power of two. Throws
    ///   std::invalid_argument outside that range.
    explicit record_ring(std::size_t capacity)
        : mask_(ring_capacity(capacity) - 1), words_((mask_ + 1) / word) {
        if (capacity < 64) {
            throw std::invalid_argument("record ring capacity must be at least 64");
        }
    }

    std::size_t capacity() const noexcept { return mask_ + 1; }
    /// Largest record in bytes: a quarter of the ring, so that one that does not fit now will.
    std::size_t max_record_size() const noexcept { return capacity() / 4 - word; }

    /// Any thread. False: no room now, or over `max_record_size`.
    bool try_push(std::uint8_t kind, std::span<const std::byte> record) noexcept {
        if (record.size() > max_record_size()) {
            return false;
        }
        const std::size_t room = room_for(record.size());
        std::size_t rest = 0;  // of the ring's end, when the record does not fit there
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint64_t tail = tail_.load(std::memory_order_acquire);
            const std::size_t to_end = capacity() - (head & mask_);
            rest = room <= to_end && !restarts(head, tail, room) ? 0 : to_end;
            if (head + rest + room - tail > capacity()) {
                // Full, unless `head` is from before others pushed and the consumer read.
                const std::uint64_t head_now = head_.load(std::memory_order_relaxed);
                if (head_now == head) {
                    return false;
                }
                head = head_now;
            } else if (head_.compare_exchange_weak(head, head + rest + room,
                                                   std::memory_order_relaxed)) {
                break;
            }
        }
        if (rest != 0) {
            header(head).store(filler, std::memory_order_release);
            head += rest;
        }
        if (!record.empty()) {
            std::memcpy(bytes(head) + word, record.data(), record.size());
        }
        header(head).store(written | std::uint64_t{kind} << 32U | record.size(),
                           std::memory_order_release);
        return true;
    }

    /// Consumer thread. Calls `take(kind, bytes)` for the oldest record and frees it, also when
    /// `take` throws. False: empty, or the oldest is still being written by its producer.
    template <typename Take>
    bool try_pop(Take&& take) {
        std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        std::uint64_t state = header(tail).load(std::memory_order_acquire);
        if (state == filler) {
            header(tail).store(0, std::memory_order_relaxed);  // behind it all is zero
            tail += capacity() - (tail & mask_);
            tail_.store(tail, std::memory_order_release);
            state = header(tail).load(std::memory_order_acquire);
        }
        if (state == 0) {
            return false;
        }
        const auto size = static_cast<std::uint32_t>(state);
        const releaser freeing{*this, tail, room_for(size)};
        take(static_cast<std::uint8_t>(state >> 32U),
             std::span<const std::byte>{bytes(tail) + word, size});
        return true;
    }

    /// How many bytes have ever been taken by producers, and freed by the consumer: once freed has
    /// reached what taken was, everything pushed before is done with. Any thread.
    std::uint64_t taken() const noexcept { return head_.load(std::memory_order_acquire); }
    std::uint64_t freed() const noexcept { return tail_.load(std::memory_order_acquire); }

  private:
    static constexpr std::size_t word = sizeof(std::uint64_t);
    static constexpr std::uint64_t written = std::uint64_t{1} << 63U;
    static constexpr std::uint64_t filler = ~std::uint64_t{0};

    struct releaser {
        record_ring& ring;
        std::uint64_t from;
        std::size_t size;
        ~releaser() { ring.release(from, size); }
    };

    static constexpr std::size_t restart_after = std::size_t{64} * 1024;

    bool restarts(std::uint64_t head, std::uint64_t tail, std::size_t room) const noexcept {
        const std::size_t used_up = head & mask_;
        return head == tail && used_up >= restart_after && used_up >= room;
    }

    static constexpr std::size_t room_for(std::size_t size) noexcept {
        return word + (size + word - 1) / word * word;
    }
    std::byte* bytes(std::uint64_t position) noexcept {
        return reinterpret_cast<std::byte*>(words_.data()) + (position & mask_);
    }
    std::atomic_ref<std::uint64_t> header(std::uint64_t position) noexcept {
        return std::atomic_ref<std::uint64_t>{words_[(position & mask_) / word]};
    }
    void release(std::uint64_t from, std::size_t size) noexcept {
        std::memset(bytes(from), 0, size);
        tail_.store(from + size, std::memory_order_release);
    }

    const std::size_t mask_;
    const zeroed_array<std::uint64_t> words_;
    alignas(cache_line_size) std::atomic<std::uint64_t> head_{0};
    alignas(cache_line_size) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace tagferry::transport
