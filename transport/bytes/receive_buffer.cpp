#include "transport/bytes/receive_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tagferry::transport {
namespace {

// What consumed bytes turn into in debug builds; no protocol of ours takes it for anything valid.
constexpr int consumed_mark = 0xDD;

void mark_consumed([[maybe_unused]] std::byte* from, [[maybe_unused]] std::size_t size) noexcept {
    if constexpr (debug_checks) {
        if (size != 0) {
            std::memset(from, consumed_mark, size);
        }
    }
}

}  // namespace

receive_buffer::receive_buffer(std::span<std::byte> staging, pinned_pool* large_frames) noexcept
    : staging_(staging),
      large_frames_(large_frames),
      base_(staging.data()),
      limit_(staging.size()) {
    if (staging.size() <= header_room) {
        die("staging too small", "receive_buffer bytes", staging.size());
    }
}

std::span<std::byte> receive_buffer::writable() noexcept {
    if (!in_large_frame() && begin_ != 0 &&
        (limit_ - end_ < header_room || frame_size_ > limit_ - begin_)) {
        compact();
    }
    return {base_ + end_, limit_ - end_};
}

void receive_buffer::filled(std::size_t count) noexcept {
    if (count > limit_ - end_) {
        die("more bytes filled than were writable", "receive_buffer", count);
    }
    end_ += count;
}

void receive_buffer::consume(std::size_t count) noexcept {
    if (count > end_ - begin_) {
        die("more bytes consumed than were received", "receive_buffer", count);
    }
    mark_consumed(base_ + begin_, count);
    begin_ += count;
    frame_size_ -= std::min(count, frame_size_);
    if (begin_ != end_) {
        return;
    }
    if (in_large_frame()) {
        leave_large_frame();
    } else {
        begin_ = 0;
        end_ = 0;
    }
}

frame_room receive_buffer::expect_frame(std::size_t size) noexcept {
    if (size == 0 || size == frame_size_) {
        return frame_room::ready;
    }
    if (in_large_frame()) {
        return extend_large_frame(size);
    }
    if (size > staging_.size()) {
        return enter_large_frame(size);
    }
    frame_size_ = size;
    return frame_room::ready;
}

void receive_buffer::hand_over(receive_buffer& to) noexcept {
    if (!to.empty() || (!in_large_frame() && end_ - begin_ > to.staging_.size())) {
        die("nowhere to hand received bytes over to", "receive_buffer", end_ - begin_);
    }
    if (in_large_frame()) {
        to.large_ = std::move(large_);
        to.base_ = base_;
        to.begin_ = begin_;
        to.end_ = end_;
        to.limit_ = limit_;
        to.frame_size_ = frame_size_;
        leave_large_frame();
        return;
    }
    to.end_ = end_ - begin_;
    if (to.end_ != 0) {
        std::memcpy(to.base_, base_ + begin_, to.end_);
    }
    to.moved_bytes_ += to.end_;
    to.frame_size_ = frame_size_;
    clear();
}

void receive_buffer::clear() noexcept {
    consume(end_ - begin_);
    frame_size_ = 0;
}

void receive_buffer::compact() noexcept {
    const std::size_t kept = end_ - begin_;
    std::memmove(base_, base_ + begin_, kept);
    mark_consumed(base_ + std::max(kept, begin_), end_ - std::max(kept, begin_));
    moved_bytes_ += kept;
    begin_ = 0;
    end_ = kept;
}

void receive_buffer::leave_large_frame() noexcept {
    large_.reset();
    base_ = staging_.data();
    begin_ = 0;
    end_ = 0;
    limit_ = staging_.size();
    frame_size_ = 0;
}

frame_room receive_buffer::enter_large_frame(std::size_t size) noexcept {
    if (large_frames_ == nullptr || size > large_frames_->slot_size()) {
        return frame_room::too_large;
    }
    pooled_buffer large = large_frames_->rent();
    if (!large) {
        return frame_room::no_buffer;
    }
    const std::size_t kept = end_ - begin_;
    if (kept != 0) {
        std::memcpy(large.bytes().data(), base_ + begin_, kept);
        mark_consumed(base_ + begin_, kept);
    }
    moved_bytes_ += kept;
    large_ = std::move(large);
    base_ = large_.bytes().data();
    begin_ = 0;
    end_ = kept;
    limit_ = size;
    frame_size_ = size;
    return frame_room::ready;
}

// The engine learned more about what it is receiving, or consumed a part and announces the rest.
frame_room receive_buffer::extend_large_frame(std::size_t size) noexcept {
    const std::size_t capacity = large_.bytes().size();
    if (size > capacity) {
        return frame_room::too_large;
    }
    if (size > capacity - begin_) {
        compact();
    }
    frame_size_ = size;
    limit_ = std::max(end_, begin_ + size);
    return frame_room::ready;
}

}  // namespace tagferry::transport
