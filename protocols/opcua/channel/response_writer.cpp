#include "protocols/opcua/channel/response_writer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tagferry::opcua {

bool response_writer::open(transport::pinned_pool& pool) noexcept {
    pool_ = &pool;
    chunks_[0].buffer = pool.rent();
    count_ = chunks_[0].buffer ? 1 : 0;
    return count_ != 0;
}

void response_writer::begin(std::uint32_t chunk_size, std::uint32_t message_cap,
                            std::uint32_t chunk_cap) noexcept {
    const std::size_t slot = std::min<std::size_t>(chunk_size, pool_->slot_size());
    body_size_ = slot - symmetric_head_size;
    chunk_cap_ = std::min(chunk_cap, most_response_chunks);
    // Part 6 §7.1.2.3: the message size counts the bodies of all chunks.
    body_cap_ = message_cap == 0 ? std::numeric_limits<std::size_t>::max() : message_cap;
    restart();
}

void response_writer::restart() noexcept {
    for (; count_ > 1; --count_) {
        chunks_[count_ - 1].buffer.reset();
    }
    written_ = 0;
    out_.begin(body_of(0));
}

status_code response_writer::next_chunk(std::size_t used, std::span<std::byte>& next) {
    chunks_[count_ - 1].size = static_cast<std::uint32_t>(symmetric_head_size + used);
    written_ += used;
    if (count_ == chunk_cap_ || written_ >= body_cap_) {
        return status::bad_response_too_large;
    }
    chunks_[count_].buffer = pool_->rent();
    if (!chunks_[count_].buffer) {
        return status::bad_tcp_not_enough_resources;
    }
    next = body_of(count_);
    ++count_;
    return status::good;
}

void response_writer::finish() noexcept {
    const std::size_t used = out_.used();
    chunks_[count_ - 1].size = static_cast<std::uint32_t>(symmetric_head_size + used);
    if (written_ + used > body_cap_) {
        out_.fail(status::bad_response_too_large);
    }
}

void response_writer::overwrite(std::size_t at, std::uint32_t value) noexcept {
    // The chunk written to now has no size yet; a position at the end of one is at the beginning
    // of the next.
    for (std::size_t index = 0; index + 1 < count_; ++index) {
        const std::size_t size = chunks_[index].size - symmetric_head_size;
        if (at < size) {
            encoder::patch(body_of(index).data() + at, value);
            return;
        }
        at -= size;
    }
    if (count_ != 0 && at + sizeof value <= out_.used()) {
        encoder::patch(body_of(count_ - 1).data() + at, value);
    }
}

std::size_t response_writer::room() const noexcept {
    // What a number that is not split over two chunks may leave unused of one.
    constexpr std::size_t lost = 64;
    const std::size_t more = std::min(chunk_cap_ - count_, pool_->free_count());
    const std::size_t rest = body_size_ - out_.used();
    const std::size_t here = position();
    return std::min(rest + more * (body_size_ - lost), body_cap_ > here ? body_cap_ - here : 0);
}

void response_writer::close() noexcept {
    for (std::size_t at = 0; at < count_; ++at) {
        chunks_[at].buffer.reset();
    }
    count_ = 0;
}

}  // namespace tagferry::opcua
