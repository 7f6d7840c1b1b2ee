// What an S7 decoder is willing to take, as one object handed to it: no bound is buried in code.
#pragma once

#include <cstddef>

namespace tagferry::s7 {

/// TPKT header, then COTP data header: what stands before every S7 PDU or fragment of one.
inline constexpr std::size_t tpkt_header_size = 4;
inline constexpr std::size_t cotp_data_header_size = 3;
inline constexpr std::size_t envelope_size = tpkt_header_size + cotp_data_header_size;

/// Bounds of `pdu_size` in a setup; real PLCs offer 240, 480 or 960.
inline constexpr std::size_t smallest_pdu = 112;
inline constexpr std::size_t largest_pdu = 2048;

/// Items one read or write job can name: the count is one byte on the wire.
inline constexpr std::size_t largest_item_count = 255;

struct wire_limits {
    /// Largest S7 PDU taken in bytes, counted from its protocol id 0x32; joined fragments too.
    std::size_t max_pdu = 960;
    /// COTP data TPDUs that may be joined to one PDU.
    std::size_t max_fragments = 64;
};

}  // namespace tagferry::s7
