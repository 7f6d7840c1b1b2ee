// Turns the rest of a batch into the pieces of one write: neighbours in memory become one piece,
// small ones are copied side by side, large ones are sent from where they lie.
#pragma once

#include "transport/engine.hpp"

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

namespace tagferry::transport {

/// Where the sending of a batch stands.
struct batch_position {
    std::size_t segment = 0;  ///< index of the segment the next byte lies in
    std::size_t offset = 0;   ///< of that byte in its segment
};

/// Lives for one write, on the stack.
class gather {
  public:
    /// Runs under this size are copied: 16 pieces cost a write about 300 ns more than one, and
    /// copying 1 KiB costs a tenth of that.
    static constexpr std::size_t small_run = 1024;
    static constexpr std::size_t flat_size = 8192;
    /// One write takes at most this much of a message that is over the batch's own cap.
    static constexpr std::size_t max_bytes = send_batch::max_bytes;

    gather(const send_batch& batch, batch_position from) noexcept;

    std::span<const iovec> pieces() const noexcept { return {pieces_.data(), count_}; }
    std::size_t bytes() const noexcept { return bytes_; }

    /// The position `count` bytes further on.
    static batch_position advance(const send_batch& batch, batch_position from,
                                  std::size_t count) noexcept;

  private:
    void add(std::span<const std::byte> run, bool alone) noexcept;

    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    std::size_t flat_used_ = 0;
    // Deliberately not initialised: written before they are counted.
    std::array<iovec, send_batch::max_segments> pieces_;
    std::array<std::byte, flat_size> flat_;
};

}  // namespace tagferry::transport
