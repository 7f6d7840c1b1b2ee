// Shows received bytes to an engine and keeps what it did not consume. Used by the driver for what
// the socket brings, and by the TLS filter for what decryption brings.
#pragma once

#include "transport/bytes/receive_buffer.hpp"
#include "transport/engine.hpp"

#include <array>

namespace tagferry::transport {

/// What the engine's last look at the input says about the next bytes.
enum class input_state : std::uint8_t {
    hungry,     ///< everything complete was handled: receive more
    unwanted,   ///< the engine holds back: show again when it wants input
    again,      ///< the engine reached its turn limit: show again next turn (RX13)
    no_buffer,  ///< a large frame begins and no buffer is free: show again when one is (RX4)
    too_large,  ///< a frame begins that no buffer of this connection can hold
};

class input_feed {
  public:
    explicit input_feed(pinned_pool* large_frames) noexcept : buffer_(staging_, large_frames) {}

    receive_buffer& buffer() noexcept { return buffer_; }
    const receive_buffer& buffer() const noexcept { return buffer_; }

    /// Shows the unconsumed bytes once; with none, only asks the engine whether it wants some.
    input_state show(engine& reader, time_point now) {
        consumed_ = 0;
        if (buffer_.empty() && !again_) {
            return reader.wants_input().wanted ? input_state::hungry : input_state::unwanted;
        }
        const receive_result result = reader.receive(buffer_.unconsumed(), now);
        consumed_ = result.consumed;
        buffer_.consume(result.consumed);
        again_ = result.more;
        if (again_) {
            return input_state::again;
        }
        const input_wish wish = reader.wants_input();
        if (!wish.wanted) {
            return input_state::unwanted;
        }
        if (buffer_.empty()) {
            return input_state::hungry;
        }
        switch (buffer_.expect_frame(wish.frame_size)) {
            case frame_room::ready:
                break;
            case frame_room::no_buffer:
                return input_state::no_buffer;
            case frame_room::too_large:
                return input_state::too_large;
        }
        return input_state::hungry;
    }

    /// Drops everything received.
    void clear() noexcept {
        buffer_.clear();
        again_ = false;
    }

    /// Bytes that the last `show` used up.
    std::size_t consumed() const noexcept { return consumed_; }

  private:
    std::size_t consumed_ = 0;
    bool again_ = false;
    // Deliberately not initialised: 8 KiB per connection that nobody reads before they arrive.
    std::array<std::byte, receive_buffer::staging_size> staging_;
    receive_buffer buffer_;
};

}  // namespace tagferry::transport
