// WebSocket frames (RFC 6455, 5) as a server sees them: masked ones come in, plain ones go out. No
// extensions, so the reserved bits are always clear.
#pragma once

#include "web/http/output_chain.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

enum class frame_opcode : std::uint8_t {
    continuation = 0x0,
    text = 0x1,
    binary = 0x2,
    close = 0x8,
    ping = 0x9,
    pong = 0xA,
};

/// Why a stream ends: RFC 6455, 7.4.1, and two of this product's own.
enum class close_code : std::uint16_t {
    none = 0,  ///< no code: the peer sent none
    normal = 1000,
    going_away = 1001,
    protocol_error = 1002,
    unsupported_data = 1003,
    invalid_text = 1007,
    too_large = 1009,
    malformed_message = 4400,  ///< a message is no request of the stream
    too_slow = 4429,           ///< the client did not take what it asked for
};

struct frame_event {
    enum class kind : std::uint8_t {
        none,     ///< more bytes are needed
        message,  ///< `text` is a whole text message, in the storage
        ping,     ///< `text` is what the pong must carry
        pong,
        close,   ///< the peer ends; `code` is what to answer with
        failed,  ///< the peer broke the protocol; `code` and `text` say how
    };
    kind what = kind::none;
    close_code code = close_code::none;
    std::string_view text;
};

/// Takes frames apart, however they are cut, and puts the messages together.
class frame_reader {
  public:
    static constexpr std::size_t largest_header = 14;
    static constexpr std::size_t largest_control = 125;

    /// Takes bytes off the front of `bytes` until something happened or they are used up, and
    /// says how many. A header that is not complete is not taken. After `failed` or `close`
    /// nothing more is to be read.
    /// @param storage where a message is put together; the same memory until it is complete, and
    ///   its size is the largest message taken.
    std::size_t take(std::span<const std::byte> bytes, std::span<char> storage,
                     frame_event& event) noexcept;

    /// Part of a message is in the storage, or its frame has begun.
    bool inside_message() const noexcept { return in_message_; }

  private:
    std::size_t take_header(std::span<const std::byte> bytes, std::size_t capacity,
                            frame_event& event) noexcept;
    bool check(frame_opcode opcode, bool final, std::uint64_t size, std::size_t capacity,
               frame_event& event) noexcept;
    void end_frame(std::span<char> storage, frame_event& event) noexcept;
    void end_control(frame_event& event) noexcept;

    std::array<char, largest_control> control_{};
    std::size_t control_size_ = 0;
    std::size_t message_size_ = 0;
    std::uint64_t remaining_ = 0;  // of the payload of this frame
    std::array<std::uint8_t, 4> mask_{};
    std::uint8_t mask_at_ = 0;
    frame_opcode opcode_ = frame_opcode::text;
    bool final_ = false;
    bool in_frame_ = false;
    bool in_message_ = false;
};

/// One text frame being written into the output.
class frame_writer {
  public:
    /// The most payload one frame takes.
    static constexpr std::size_t largest_payload = 65'535;

    explicit frame_writer(output_chain& out) noexcept : out_(out) {}

    /// False, with nothing written: a shortage of slots, remembered by the output.
    bool begin() noexcept;
    /// Bytes of payload so far.
    std::size_t size() const noexcept { return out_.size_since(start_) - header_size; }
    /// Puts the header right. The output must not be short.
    void end() noexcept;
    /// Takes back everything written since `begin`.
    void cancel() noexcept { out_.rollback(start_); }

  private:
    static constexpr std::size_t header_size = 4;
    static constexpr std::size_t largest_short =
        125;  // payload of a frame with two bytes of header

    output_chain& out_;
    output_chain::mark start_;
};

/// Writes a control frame. False, with nothing written: a shortage of slots, remembered.
bool put_control_frame(output_chain& out, frame_opcode opcode, std::string_view payload) noexcept;

/// Writes a Close frame with a code and a few words. False as above.
bool put_close_frame(output_chain& out, close_code code, std::string_view words) noexcept;

}  // namespace tagferry::web
