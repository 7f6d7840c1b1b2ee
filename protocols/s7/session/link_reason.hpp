// Why a link to a PLC is not up, in numbers and words.
#pragma once

#include <cstdint>
#include <string_view>

namespace tagferry::s7 {

/// Why a link is not up. `none` while it is, or was never tried.
enum class link_reason : std::uint8_t {
    none,
    handshake_timeout,   ///< no COTP confirm or setup reply in time
    connection_refused,  ///< disconnect or error TPDU: wrong TSAP, or the PLC has none free
    closed_in_handshake,
    setup_refused,   ///< the PLC answered setup communication with an error
    setup_unusable,  ///< negotiated values that nothing can be done with
    peer_closed,     ///< the PLC or somebody between closed the connection
    transport_error,
    disconnected,    ///< disconnect or error TPDU while up
    protocol_error,  ///< the peer sent what is not S7
    job_timeouts,    ///< the PLC went silent, or too many jobs were not answered
    requested,       ///< this side closed it
};
/// What the reason means, with the remedy where one is known. Static storage.
std::string_view words_of(link_reason reason) noexcept;

}  // namespace tagferry::s7
