// The eight bytes in front of every chunk (Part 6 §6.7.2.2, §7.1.2.2), checked before anything is
// allocated or believed (RX3).
#pragma once

#include "protocols/opcua/backend/value_view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua {

inline constexpr std::size_t frame_header_size = 8;

enum class frame_type : std::uint8_t {
    hello,
    acknowledge,
    error,
    reverse_hello,
    open,
    message,
    close
};

enum class chunk_kind : std::uint8_t { final = 'F', intermediate = 'C', abort = 'A' };

struct frame_header {
    frame_type type{};
    chunk_kind kind{};
    std::uint32_t size = 0;  ///< of the whole chunk, header included
};

/// Smallest whole chunk of a type: header and the fixed part of its body.
std::uint32_t smallest_frame(frame_type type) noexcept;

/// Reads and checks a header: first the type (BadTcpMessageTypeInvalid), then the size
/// (BadTcpMessageTooLarge, also when it is too small to be true).
/// @param largest what is allowed now: the negotiated receive buffer.
status_code read_frame_header(std::span<const std::byte, frame_header_size> bytes,
                              std::uint32_t largest, frame_header& out) noexcept;

}  // namespace tagferry::opcua
