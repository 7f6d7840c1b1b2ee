// Sequence numbers of a secure channel (Part 6 §6.7.2.4), one counter for each direction.
#pragma once

#include <cstdint>
#include <limits>

namespace tagferry::opcua {

/// The policies of today count from 1 and may wrap once past UInt32 maximum − 1024, to a number
/// below 1024 (E04). Renewal of the token does not restart either counter (E03).
inline constexpr std::uint32_t sequence_wrap_after =
    std::numeric_limits<std::uint32_t>::max() - 1'024;
inline constexpr std::uint32_t sequence_wrap_below = 1'024;

class inbound_sequence {
  public:
    /// The first number of a channel may be any; every later one follows the one before.
    /// False: BadSequenceNumberInvalid, and the channel ends.
    bool accept(std::uint32_t number) noexcept {
        const bool follows = !started_ || (number == last_ + 1 && number != 0) ||
                             (last_ > sequence_wrap_after && number < sequence_wrap_below);
        started_ = true;
        last_ = number;
        return follows;
    }

  private:
    std::uint32_t last_ = 0;
    bool started_ = false;
};

class outbound_sequence {
  public:
    explicit outbound_sequence(std::uint32_t last = 0) noexcept : last_(last) {}

    /// The number of the next chunk; taken only for chunks that go on the wire (TX13).
    std::uint32_t next() noexcept {
        last_ = last_ > sequence_wrap_after ? 1 : last_ + 1;
        return last_;
    }

  private:
    std::uint32_t last_;
};

}  // namespace tagferry::opcua
