#include "gateway/tags/tag_feed.hpp"

namespace tagferry::gateway {

tag_feed::tag_feed(const tag_feed_options& options)
    : waker_(options.waker),
      changed_(options.tags),
      updated_(options.tags),
      overflowed_(options.tags) {
    for (std::size_t writer = 0; writer < options.writers; ++writer) {
        rings_.push_back(std::make_unique<sample_ring>(options.ring_bytes));
    }
}

void tag_feed::release_samples() noexcept {
    for (const auto& ring : rings_) {
        ring->release();
    }
}

void tag_feed::mark_changed(std::uint32_t index) noexcept {
    note_changed(index);
}

void tag_feed::note_changed(std::uint32_t index) noexcept {
    if (changed_.mark(index)) {
        notify();
    }
}

void tag_feed::note_updated(std::uint32_t index) noexcept {
    if (updated_.mark(index)) {
        notify();
    }
}

void tag_feed::queue(std::size_t writer, queued_sample sample) noexcept {
    // A loss is told once: with the next sample that finds room, or else by the bit.
    const bool lost_before = overflowed_.take(sample.handle.index);
    sample.overflow = lost_before;
    if (rings_[writer]->push(sample)) {
        notify();
        return;
    }
    lost_.fetch_add(1, std::memory_order_relaxed);
    static_cast<void>(overflowed_.mark(sample.handle.index));
    notify();
}

void tag_feed::notify() noexcept {
    if (!pending_.exchange(true, std::memory_order_acq_rel) && waker_.wake != nullptr) {
        waker_.wake(waker_.object);
    }
}

}  // namespace tagferry::gateway
