// TPKT (RFC 1006 section 6): a four-byte header with the length of the packet, its own four
// bytes included.
#pragma once

#include "protocols/s7/wire/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::s7 {

enum class frame_state : std::uint8_t {
    incomplete,  ///< more bytes are needed
    complete,    ///< the first `size` bytes are one packet
    malformed,   ///< version or length is wrong: the connection cannot be used any more
};

struct tpkt_frame {
    frame_state state = frame_state::incomplete;
    /// Bytes of the whole packet, header included; 0 while the header is not complete.
    std::size_t size = 0;
};

/// Finds the packet at the front of received bytes. The header is judged before the body is
/// waited for: version 3, length from 7 (an empty data TPDU) to `max_size`.
tpkt_frame find_tpkt_frame(std::span<const std::byte> bytes, std::size_t max_size) noexcept;

/// Writes the four header bytes of a packet of `size` bytes in all (7 to 65,535).
void put_tpkt_header(std::span<std::byte, tpkt_header_size> to, std::size_t size) noexcept;

}  // namespace tagferry::s7
