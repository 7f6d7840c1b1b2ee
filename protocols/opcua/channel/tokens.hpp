// The security tokens of one channel: renewal with overlap (Part 4 §5.5.2, Part 6 §6.7.4).
#pragma once

#include "transport/time/clock.hpp"

#include <cstdint>

namespace tagferry::opcua {

/// At most two tokens live at once. The server keeps answering with the old one until the client
/// has used the new one or the old one has expired (E02); both are accepted meanwhile (E01).
class channel_tokens {
  public:
    /// Makes the next token. The one in use stays valid until lifetime + 25 % or until the new
    /// one is first used.
    /// @return its TokenId, from 1 up.
    std::uint32_t issue(transport::duration lifetime, transport::time_point now) noexcept;

    /// Whether a chunk under this token may be taken now; notes the first use of a new one.
    bool accept(std::uint32_t token_id, transport::time_point now) noexcept;

    /// The token that what is sent now goes under; 0 before the first `issue`.
    std::uint32_t sending(transport::time_point now) const noexcept;

    /// When nothing is valid any more: the channel ends then.
    transport::time_point end() const noexcept;

  private:
    struct token {
        std::uint32_t id = 0;  // 0: none
        transport::time_point end{};
    };
    token current_{};
    token next_{};  // issued, not yet used by the client
    std::uint32_t last_id_ = 0;
};

}  // namespace tagferry::opcua
