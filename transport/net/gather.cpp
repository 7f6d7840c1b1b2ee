#include "transport/net/gather.hpp"

#include <algorithm>
#include <cstring>

namespace tagferry::transport {

gather::gather(const send_batch& batch, batch_position from) noexcept {
    const auto segments = batch.segments();
    std::size_t next = from.segment;
    std::span<const std::byte> run = segments[next].subspan(from.offset);
    ++next;
    bool first = true;
    while (bytes_ < max_bytes) {
        while (next < segments.size() &&
               (segments[next].empty() || segments[next].data() == run.data() + run.size())) {
            run = {run.data(), run.size() + segments[next].size()};
            ++next;
        }
        run = run.first(std::min(run.size(), max_bytes - bytes_));
        add(run, first && next == segments.size());
        first = false;
        if (next == segments.size()) {
            break;
        }
        run = segments[next++];
    }
}

void gather::add(std::span<const std::byte> run, bool alone) noexcept {
    if (run.empty()) {
        return;
    }
    bytes_ += run.size();
    if (!alone && run.size() < small_run && run.size() <= flat_size - flat_used_) {
        std::byte* const copy = flat_.data() + flat_used_;
        std::memcpy(copy, run.data(), run.size());
        flat_used_ += run.size();
        if (count_ != 0) {
            iovec& last = pieces_[count_ - 1];
            if (static_cast<std::byte*>(last.iov_base) + last.iov_len == copy) {
                last.iov_len += run.size();
                return;
            }
        }
        pieces_[count_++] = {copy, run.size()};
        return;
    }
    pieces_[count_++] = {const_cast<std::byte*>(run.data()), run.size()};  // only read from
}

batch_position gather::advance(const send_batch& batch, batch_position from,
                               std::size_t count) noexcept {
    const auto segments = batch.segments();
    while (from.segment < segments.size() && count >= segments[from.segment].size() - from.offset) {
        count -= segments[from.segment].size() - from.offset;
        ++from.segment;
        from.offset = 0;
    }
    from.offset += count;
    return from;
}

}  // namespace tagferry::transport
