// Where a connection's bytes arrive: a fixed staging area and, for a frame that does not fit in
// it, one large pooled buffer. Knows no socket and no protocol.
//
//   staging   | consumed | unconsumed |  free  |      the usual case: one receive takes whatever
//             0        begin         end   capacity   is there, several frames at once
//
//   large     | consumed | unconsumed |  free  | - |  one frame that exceeds staging: receives end
//             0        begin         end     limit    at its last byte, the next one starts in
//                                                     staging again (RX4)
#pragma once

#include "transport/memory/pinned_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::transport {

/// Whether the frame that `receive_buffer::expect_frame` announced can be received.
enum class frame_room : std::uint8_t {
    ready,      ///< go on receiving into `writable()`
    no_buffer,  ///< no large buffer is free: stop receiving, announce again when one returned
    too_large,  ///< no buffer of this connection can ever hold it
};

/// Used on the connection's shard thread only. A turn goes: receive into `writable()`,
/// `filled(n)`, show `unconsumed()` to the engine, `consume` what it took, `expect_frame` with its
/// wish.
class receive_buffer {
  public:
    /// Staging bytes of a connection (RX1).
    static constexpr std::size_t staging_size = 8192;
    /// Free bytes under which `writable` moves the unconsumed bytes to the front: the largest
    /// fixed header of our protocols (RX6).
    static constexpr std::size_t header_room = 16;

    /// @param staging the connection's own memory, over `header_room` bytes, `staging_size` in the
    ///   product; must outlive the buffer.
    /// @param large_frames where buffers for larger frames are rented; null when the protocol
    ///   never exceeds staging.
    explicit receive_buffer(std::span<std::byte> staging,
                            pinned_pool* large_frames = nullptr) noexcept;
    receive_buffer(const receive_buffer&) = delete;
    receive_buffer& operator=(const receive_buffer&) = delete;

    /// Where the next receive goes. In a large frame it ends with that frame. Moves unconsumed
    /// bytes to the front of staging when little is free behind them or when the announced frame
    /// would not fit; each byte of a frame is moved at most once. Views from `unconsumed` are
    /// stale afterwards. Empty when the buffer is full: the engine must consume first (and one
    /// that will not has met a frame over its limits).
    std::span<std::byte> writable() noexcept;

    /// `count` bytes arrived at the front of what `writable` gave, at most its size.
    void filled(std::size_t count) noexcept;

    /// What arrived and was not consumed, oldest byte first, contiguous.
    std::span<std::byte> unconsumed() noexcept { return {base_ + begin_, end_ - begin_}; }

    /// The engine is finished with the first `count` bytes of `unconsumed()`. Debug builds
    /// overwrite them (RX5). The large buffer goes back to its pool when nothing in it is left
    /// unconsumed.
    void consume(std::size_t count) noexcept;

    /// Announces that a frame of `size` bytes, whose header has been validated, stands at the
    /// front of the unconsumed bytes (`input_wish::frame_size`); 0: unknown, which changes
    /// nothing. A frame larger than staging gets a large buffer here and what is there of it is
    /// copied once. Announcing the same frame again is free.
    frame_room expect_frame(std::size_t size) noexcept;

    bool empty() const noexcept { return begin_ == end_; }
    /// True while a large buffer is held.
    bool in_large_frame() const noexcept { return static_cast<bool>(large_); }
    /// Bytes ever moved or copied by this buffer itself: compaction and entry into large frames.
    std::uint64_t moved_bytes() const noexcept { return moved_bytes_; }

    /// Hands everything received and not consumed to `to`, which must be empty and whose staging
    /// must be no smaller; this buffer is empty afterwards (RX10: the staged bytes go with the
    /// socket when its protocol changes).
    void hand_over(receive_buffer& to) noexcept;

    /// Drops everything received and returns the large buffer.
    void clear() noexcept;

  private:
    void compact() noexcept;
    void leave_large_frame() noexcept;
    frame_room enter_large_frame(std::size_t size) noexcept;
    frame_room extend_large_frame(std::size_t size) noexcept;

    std::span<std::byte> staging_;
    pinned_pool* large_frames_;
    pooled_buffer large_;
    std::byte* base_;             // start of staging or of the large buffer
    std::size_t begin_ = 0;       // first unconsumed byte
    std::size_t end_ = 0;         // first free byte
    std::size_t limit_;           // receives stop here: end of staging or of the large frame
    std::size_t frame_size_ = 0;  // announced and not yet consumed, from begin_; 0 unknown
    std::uint64_t moved_bytes_ = 0;
};

}  // namespace tagferry::transport
