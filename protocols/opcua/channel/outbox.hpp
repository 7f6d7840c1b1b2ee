// Chunks of one connection between encoding and the report that they left.
#pragma once

#include "protocols/opcua/channel/response_writer.hpp"
#include "transport/engine.hpp"

#include <cstddef>
#include <vector>

namespace tagferry::opcua {

/// A ring of fixed capacity. A response is admitted only while a whole one of the greatest length
/// still fits, so `push` never fails.
class outbox {
  public:
    explicit outbox(std::size_t capacity) : ring_(capacity) {}

    std::size_t size() const noexcept { return count_; }
    std::size_t capacity() const noexcept { return ring_.size(); }
    std::size_t free() const noexcept { return ring_.size() - count_; }

    void push(out_chunk&& chunk) noexcept {
        ring_[(first_ + count_) % ring_.size()] = std::move(chunk);
        ++count_;
    }

    /// Adds what was not yet handed over, oldest first, until the batch is full.
    void pull(transport::send_batch& batch) noexcept {
        while (handed_over_ < count_) {
            const out_chunk& chunk = ring_[(first_ + handed_over_) % ring_.size()];
            if (!batch.add(chunk.buffer.bytes().first(chunk.size))) {
                return;
            }
            ++handed_over_;
        }
    }

    /// The oldest chunk handed over is finished with: its buffer goes back.
    void pop() noexcept {
        if (handed_over_ == 0) {
            return;
        }
        ring_[first_].buffer.reset();
        first_ = (first_ + 1) % ring_.size();
        --count_;
        --handed_over_;
    }

    /// Returns every buffer. Only when the driver holds no view of them any more.
    void clear() noexcept {
        for (out_chunk& chunk : ring_) {
            chunk.buffer.reset();
        }
        first_ = count_ = handed_over_ = 0;
    }

  private:
    std::vector<out_chunk> ring_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t handed_over_ = 0;
};

}  // namespace tagferry::opcua
