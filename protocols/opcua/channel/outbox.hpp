// Chunks of one connection between encoding and the report that they left.
#pragma once

#include "protocols/opcua/channel/response_writer.hpp"
#include "transport/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tagferry::opcua {

/// Links for every chunk that can exist: as many as the pool of response slots has, so that an
/// outbox never runs out of them. Shared by all connections of the shard.
class chunk_links {
  public:
    explicit chunk_links(std::size_t capacity) : links_(capacity + 1) {
        for (std::size_t at = 1; at < links_.size(); ++at) {
            links_[at].next = static_cast<std::uint32_t>(at + 1 < links_.size() ? at + 1 : 0);
        }
        first_free_ = links_.size() > 1 ? 1 : 0;
    }

  private:
    friend class outbox;
    struct link {
        out_chunk chunk{};
        std::uint32_t next = 0;  // 0: none
    };
    std::vector<link> links_;
    std::uint32_t first_free_ = 0;
};

/// First in, first out.
class outbox {
  public:
    explicit outbox(chunk_links& shared) noexcept : shared_(shared) {}
    ~outbox() { clear(); }
    outbox(const outbox&) = delete;
    outbox& operator=(const outbox&) = delete;

    std::size_t size() const noexcept { return count_; }

    /// @param chunk holds a slot of the pool that the links are counted after.
    void push(out_chunk&& chunk) noexcept {
        const std::uint32_t taken = shared_.first_free_;
        chunk_links::link& link = shared_.links_[taken];
        shared_.first_free_ = link.next;
        link.chunk = std::move(chunk);
        link.next = 0;
        if (last_ != 0) {
            shared_.links_[last_].next = taken;
        } else {
            first_ = taken;
        }
        last_ = taken;
        if (unpulled_ == 0) {
            unpulled_ = taken;
        }
        ++count_;
    }

    /// Adds what was not yet handed over, oldest first, until the batch is full.
    void pull(transport::send_batch& batch) noexcept {
        while (unpulled_ != 0) {
            const chunk_links::link& link = shared_.links_[unpulled_];
            if (!batch.add(link.chunk.buffer.bytes().first(link.chunk.size))) {
                return;
            }
            unpulled_ = link.next;
        }
    }

    /// The oldest chunk handed over is finished with: its buffer goes back.
    void pop() noexcept {
        if (first_ == 0 || first_ == unpulled_) {
            return;
        }
        const std::uint32_t gone = first_;
        chunk_links::link& link = shared_.links_[gone];
        first_ = link.next;
        last_ = first_ == 0 ? 0 : last_;
        link.next = shared_.first_free_;
        shared_.first_free_ = gone;
        --count_;
        link.chunk.buffer.reset();
    }

    /// Returns every buffer. Only when the driver holds no view of them any more.
    void clear() noexcept {
        unpulled_ = 0;
        while (first_ != 0) {
            pop();
        }
    }

  private:
    chunk_links& shared_;
    std::uint32_t first_ = 0;
    std::uint32_t last_ = 0;
    std::uint32_t unpulled_ = 0;  // oldest one not handed over; 0: none
    std::size_t count_ = 0;
};

}  // namespace tagferry::opcua
