#include "gateway/tags/sample_ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tagferry::gateway {
namespace {

/// Lies at a multiple of 8 in the ring, followed by the value. A record never wraps: where it
/// does not fit before the end, a header of size and nothing else fills the rest.
struct record_header {
    std::uint32_t size = 0;  ///< of the record, header included, a multiple of 8
    std::uint32_t value_size = 0;
    tag_handle handle{};
    status_code status{};
    reason_id reason{};
    bool overflow = false;
    bool changed = false;
    bool filler = false;
    transport::wall_time_ns source_time = 0;
    transport::wall_time_ns update_time = 0;
};

constexpr std::size_t record_alignment = 8;
constexpr std::size_t restart_after = std::size_t{64} * 1024;
static_assert(sizeof(record_header) % record_alignment == 0);

std::size_t record_size(std::size_t value_size) noexcept {
    return (sizeof(record_header) + value_size + record_alignment - 1) / record_alignment *
           record_alignment;
}

}  // namespace

sample_ring::sample_ring(std::size_t bytes)
    : capacity_(std::bit_ceil(std::max<std::size_t>(bytes, 4096))), bytes_(capacity_) {}

bool sample_ring::restarts(std::uint64_t tail, std::size_t place, std::size_t size) noexcept {
    if (place < std::max(restart_after, size)) {
        return false;
    }
    head_seen_ = head_.load(std::memory_order_acquire);
    return head_seen_ == tail;
}

bool sample_ring::push(const queued_sample& sample) noexcept {
    const std::size_t size = record_size(sample.value.size());
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::size_t place = static_cast<std::size_t>(tail & (capacity_ - 1));
    const std::size_t to_end = capacity_ - place;
    const std::size_t skipped = size <= to_end && !restarts(tail, place, size) ? 0 : to_end;
    // A record over half the ring could wait for ever for a place that does not wrap.
    if (size > capacity_ / 2) {
        return false;
    }
    if (tail + skipped + size - head_seen_ > capacity_) {
        head_seen_ = head_.load(std::memory_order_acquire);
        if (tail + skipped + size - head_seen_ > capacity_) {
            return false;
        }
    }
    if (skipped != 0) {
        // The rest is a multiple of 8 but may be too short for a header: then the reader knows.
        if (skipped >= sizeof(record_header)) {
            record_header filler;
            filler.size = static_cast<std::uint32_t>(skipped);
            filler.filler = true;
            std::memcpy(bytes_.data() + place, &filler, sizeof filler);
        }
    }
    record_header header;
    header.size = static_cast<std::uint32_t>(size);
    header.value_size = static_cast<std::uint32_t>(sample.value.size());
    header.handle = sample.handle;
    header.status = sample.status;
    header.reason = sample.reason;
    header.overflow = sample.overflow;
    header.changed = sample.changed;
    header.source_time = sample.source_time;
    header.update_time = sample.update_time;
    std::byte* const to = bytes_.data() + ((place + skipped) & (capacity_ - 1));
    std::memcpy(to, &header, sizeof header);
    if (!sample.value.empty()) {
        std::memcpy(to + sizeof header, sample.value.data(), sample.value.size());
    }
    tail_.store(tail + skipped + size, std::memory_order_release);
    return true;
}

bool sample_ring::next(queued_sample& sample) noexcept {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    record_header header;
    for (;;) {
        if (read_at_ == tail) {
            return false;
        }
        const std::size_t place = static_cast<std::size_t>(read_at_ & (capacity_ - 1));
        if (capacity_ - place < sizeof header) {
            read_at_ += capacity_ - place;
            continue;
        }
        std::memcpy(&header, bytes_.data() + place, sizeof header);
        read_at_ += header.size;
        if (!header.filler) {
            const std::byte* const value = bytes_.data() + place + sizeof header;
            sample.handle = header.handle;
            sample.status = header.status;
            sample.reason = header.reason;
            sample.overflow = header.overflow;
            sample.changed = header.changed;
            sample.source_time = header.source_time;
            sample.update_time = header.update_time;
            sample.value = {value, header.value_size};
            return true;
        }
    }
}

}  // namespace tagferry::gateway
