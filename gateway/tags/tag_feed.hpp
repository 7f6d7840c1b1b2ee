// What one consuming shard is told about the tags it watches. Two feeds in one object: bits for
// consumers of the latest value, and samples for consumers of every one. A change costs its writer
// the same however many clients the shard serves: the shard fans out.
#pragma once

#include "gateway/tags/dirty_bitmap.hpp"
#include "gateway/tags/sample_ring.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tagferry::gateway {

/// Told on a writer's thread that a feed has news, at most once until the consumer looks. Cheap
/// and without allocation: a post to the consuming shard.
struct feed_waker {
    void (*wake)(void* object) = nullptr;  ///< may be null: the consumer polls
    void* object = nullptr;
};

struct tag_feed_options {
    std::size_t tags = 0;                  ///< as many as the table has indexes
    std::size_t writers = 1;               ///< writing threads
    std::size_t ring_bytes = 1024 * 1024;  ///< of the sample ring of each writing thread
    feed_waker waker{};
};

class tag_feed {
  public:
    explicit tag_feed(const tag_feed_options& options);

    // Consuming thread.

    /// Called first by a consumer that was woken, before it drains: from here on news wakes again.
    void begin() noexcept { pending_.exchange(false, std::memory_order_acq_rel); }

    /// Whether something came since the last `begin`.
    bool has_news() const noexcept { return pending_.load(std::memory_order_acquire); }

    /// At most `limit` tags whose value or status differs from before: `visit(index)`. Fewer than
    /// `limit` means that there is no more, or that the waker was called again.
    template <typename Visit>
    std::size_t drain_changed(std::size_t limit, Visit&& visit) {
        return changed_.drain(limit, visit);
    }

    /// The same for tags sampled again, changed or not.
    template <typename Visit>
    std::size_t drain_updated(std::size_t limit, Visit&& visit) {
        return updated_.drain(limit, visit);
    }

    /// At most `limit` samples, oldest first for each tag: `visit(const queued_sample&)`. Values
    /// are valid until `release_samples`.
    template <typename Visit>
    std::size_t peek_samples(std::size_t limit, Visit&& visit) {
        std::size_t shown = 0;
        for (const auto& ring : rings_) {
            shown += ring->peek(limit - shown, visit);
        }
        return shown;
    }
    void release_samples() noexcept;

    /// At most `limit` tags whose newest samples were lost because a ring was full; call when
    /// `peek_samples` found no more. The table has the newest sample of each.
    template <typename Visit>
    std::size_t drain_overflowed(std::size_t limit, Visit&& visit) {
        return overflowed_.drain(limit, visit);
    }

    /// Samples that found a ring full since the start. Any thread.
    std::uint64_t lost_samples() const noexcept { return lost_.load(std::memory_order_relaxed); }

    /// Consuming thread: makes the next drain report the tag, e.g. for an initial value.
    void mark_changed(std::uint32_t index) noexcept;

    // Writing threads, through tag_writer.

    void note_changed(std::uint32_t index) noexcept;
    void note_updated(std::uint32_t index) noexcept;
    /// @param writer number of the writing thread, under `tag_feed_options::writers`.
    void queue(std::size_t writer, queued_sample sample) noexcept;

  private:
    void notify() noexcept;

    feed_waker waker_;
    dirty_bitmap changed_;
    dirty_bitmap updated_;
    dirty_bitmap overflowed_;
    std::vector<std::unique_ptr<sample_ring>> rings_;
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<bool> pending_{false};
};

}  // namespace tagferry::gateway
