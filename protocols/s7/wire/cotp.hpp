// COTP (ISO 8073 class 0) as S7 uses it: connect request and confirm, data, disconnect, error.
#pragma once

#include "protocols/s7/wire/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tagferry::s7 {

enum class cotp_type : std::uint8_t {
    connect_request = 0xE0,
    connect_confirm = 0xD0,
    disconnect_request = 0x80,
    disconnect_confirm = 0xC0,
    error = 0x70,
    data = 0xF0,
};

/// TPDU size in bytes, header included, that holds when a confirm names none (ISO 8073 13.3.4).
inline constexpr std::size_t default_tpdu_size = 128;
/// Longest TSAP taken; S7 uses two bytes, other stations up to 16.
inline constexpr std::size_t max_tsap_size = 32;

/// One decoded TPDU. Which fields mean something depends on `type`; views point into the input.
struct cotp_tpdu {
    cotp_type type = cotp_type::data;

    // Connect request and confirm. Parameters come in any order; unknown ones are skipped.
    std::uint16_t destination_reference = 0;
    std::uint16_t source_reference = 0;
    std::uint8_t class_option = 0;
    /// From parameter C0: 128 to 8192. Absent: `default_tpdu_size` holds for what we send.
    std::optional<std::size_t> tpdu_size;
    std::span<const std::byte> calling_tsap;
    std::span<const std::byte> called_tsap;

    // Disconnect request: the reason; error: the reject cause.
    std::uint8_t reason = 0;

    // Data.
    bool end_of_tsdu = false;  ///< clear: more fragments of the same S7 PDU follow
    std::span<const std::byte> payload;
};

/// Decodes what follows the TPKT header. False when the TPDU is malformed or of a type that
/// class 0 does not have. The number of a data TPDU is ignored: some peers count in it.
bool decode_cotp(std::span<const std::byte> tpdu, cotp_tpdu& out) noexcept;

struct cotp_connect {
    std::uint16_t destination_reference = 0;
    std::uint16_t source_reference = 0;
    std::size_t tpdu_size = 1024;  ///< a power of two, 128 to 8192
    std::span<const std::byte> calling_tsap;
    std::span<const std::byte> called_tsap;
};

/// Writes a whole packet, TPKT included: `type` is connect_request or connect_confirm.
/// @return its size, or 0 when it does not fit into `to`.
std::size_t encode_cotp_connect(std::span<std::byte> to, cotp_type type,
                                const cotp_connect& connect) noexcept;

/// Writes a whole disconnect request packet. @return its size, or 0 when it does not fit.
std::size_t encode_cotp_disconnect(std::span<std::byte> to, std::uint16_t destination_reference,
                                   std::uint16_t source_reference, std::uint8_t reason) noexcept;

/// Writes TPKT and data header in front of a payload of `payload_size` bytes.
void put_data_header(std::span<std::byte, envelope_size> to, std::size_t payload_size,
                     bool end_of_tsdu) noexcept;

/// S7 bytes one data TPDU may carry when the peer takes TPDUs of `tpdu_size` bytes.
constexpr std::size_t fragment_capacity(std::size_t tpdu_size) noexcept {
    return tpdu_size - cotp_data_header_size;
}

/// The called TSAP of a CPU: connection type (1 PG, 2 OP, 3 S7 basic), rack 0-7, slot 0-31.
constexpr std::uint16_t tsap_of(std::uint8_t connection_type, std::uint8_t rack,
                                std::uint8_t slot) noexcept {
    return static_cast<std::uint16_t>((connection_type << 8) | ((rack & 7) << 5) | (slot & 31));
}

}  // namespace tagferry::s7
