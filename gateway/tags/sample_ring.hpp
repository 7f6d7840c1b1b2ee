// A bounded ring of samples from one writing thread to one consuming thread, for tags that have a
// consumer of every sample. Records are of the size their value has; a full ring refuses. A writer
// that finds the ring empty beyond its first 64 KiB begins at the front again, so that a large
// ring whose consumer keeps up does not use its memory whole.
#pragma once

#include "gateway/model/catalogue.hpp"
#include "gateway/tags/tag_handle.hpp"
#include "transport/memory/zeroed_memory.hpp"
#include "transport/time/clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::gateway {

/// One sample as the consumer sees it.
struct queued_sample {
    tag_handle handle{};
    status_code status{};
    reason_id reason{};
    bool overflow = false;  ///< samples of this tag just before this one were lost
    bool changed = false;   ///< value or status differs from the sample before
    transport::wall_time_ns source_time = 0;
    transport::wall_time_ns update_time = 0;
    std::span<const std::byte> value{};  ///< slot form; empty where the sample has no value
};

class sample_ring {
  public:
    /// @param bytes of memory, rounded up to a power of two, at least 4096.
    explicit sample_ring(std::size_t bytes);

    std::size_t capacity() const noexcept { return capacity_; }

    /// Writing thread. Copies the value. False: no room; nothing was stored.
    bool push(const queued_sample& sample) noexcept;

    /// Consuming thread. Shows at most `limit` samples, oldest first: `visit(const
    /// queued_sample&)`, whose value is valid until `release` is called.
    template <typename Visit>
    std::size_t peek(std::size_t limit, Visit&& visit) {
        std::size_t shown = 0;
        queued_sample sample;
        while (shown < limit && next(sample)) {
            visit(sample);
            ++shown;
        }
        return shown;
    }

    /// Consuming thread. Gives everything shown back to the writer.
    void release() noexcept { head_.store(read_at_, std::memory_order_release); }

  private:
    bool restarts(std::uint64_t tail, std::size_t place, std::size_t size) noexcept;
    bool next(queued_sample& sample) noexcept;

    std::size_t capacity_;
    transport::zeroed_array<std::byte> bytes_;
    alignas(64) std::atomic<std::uint64_t> head_{0};  // oldest byte in use, moved by the consumer
    std::uint64_t read_at_ = 0;                       // consumer's: shown up to here
    alignas(64) std::atomic<std::uint64_t> tail_{0};  // next byte to write, moved by the writer
    std::uint64_t head_seen_ = 0;                     // writer's last look at head_
};

}  // namespace tagferry::gateway
