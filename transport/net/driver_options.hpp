// What a driver may spend on one connection.
#pragma once

#include "transport/time/clock.hpp"

#include <cstddef>

namespace tagferry::transport {

class pinned_pool;
class traffic;

struct driver_options {
    /// Counts what the connection moves. Must outlive the driver; never null.
    traffic* counters = nullptr;
    /// Where frames larger than the staging buffer are received (RX4). Null: a protocol without
    /// such frames; one that announces a larger one is closed with `protocol_error`.
    pinned_pool* large_frames = nullptr;
    /// Reading from the peer stops while at least so many bytes wait to be sent to it ...
    std::size_t high_water_bytes = std::size_t{64} * 1024;
    /// ... and goes on once no more than this are left (TX9).
    std::size_t low_water_bytes = std::size_t{16} * 1024;
    /// From the first byte of a frame to its last: ends a peer that drips (RX8).
    duration frame_timeout = std::chrono::seconds{10};
    /// A write that makes no progress for so long ends the connection.
    duration write_timeout = std::chrono::seconds{10};
    /// From `close_after_flush` to the close, at most: flushing and draining included (TX8).
    duration linger_timeout = std::chrono::seconds{2};
    /// Unread input thrown away before the close, at most.
    std::size_t linger_bytes = std::size_t{256} * 1024;
    /// `engine_host::abort` resets the connection instead of ending it in order: for engines that
    /// play a peer that fails.
    bool reset_on_abort = false;
};

}  // namespace tagferry::transport
