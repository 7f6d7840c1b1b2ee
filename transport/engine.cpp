#include "transport/engine.hpp"

namespace tagferry::transport {

std::string_view name_of(close_reason reason) noexcept {
    switch (reason) {
        case close_reason::peer_closed:
            return "peer_closed";
        case close_reason::peer_closed_mid_frame:
            return "peer_closed_mid_frame";
        case close_reason::transport_error:
            return "transport_error";
        case close_reason::protocol_error:
            return "protocol_error";
        case close_reason::timed_out:
            return "timed_out";
        case close_reason::requested:
            return "requested";
        case close_reason::connect_failed:
            return "connect_failed";
        case close_reason::refused:
            return "refused";
        case close_reason::shutting_down:
            return "shutting_down";
    }
    return "unknown";
}

bool send_batch::add(std::span<const std::span<const std::byte>> segments) noexcept {
    if (message_count_ == message_limit_ || segments.size() > max_segments - segment_count_) {
        return false;
    }
    std::size_t size = 0;
    for (const auto& segment : segments) {
        size += segment.size();
    }
    // A message over the byte cap still goes, alone: the driver sends it in slices.
    if (message_count_ != 0 && bytes_ + size > max_bytes) {
        return false;
    }
    for (const auto& segment : segments) {
        segments_[segment_count_++] = segment;
    }
    message_sizes_[message_count_++] = size;
    bytes_ += size;
    return true;
}

}  // namespace tagferry::transport
