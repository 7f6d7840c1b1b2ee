// Hello, Acknowledge and Error of the connection protocol (Part 6 §7.1.2).
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua {

/// What both sides agreed on. Sizes in bytes.
struct negotiated {
    std::uint32_t receive_size = 0;           ///< largest chunk the client may send
    std::uint32_t send_size = 0;              ///< largest chunk it takes
    std::uint32_t response_message_size = 0;  ///< largest whole answer it takes; 0: any (E14)
    std::uint32_t response_chunk_count = 0;   ///< most chunks of one answer
};

/// Decodes a Hello and negotiates. The sizes never exceed what the client offered (E16).
/// @param body the chunk without its header.
/// @param url receives a view into `body`: the EndpointUrl the client dialled.
/// @return Good, BadTcpEndpointUrlInvalid (too long), BadTcpNotEnoughResources (buffers below
///   8,192), BadDecodingError.
status_code read_hello(bytes_view body, const limits& bounds, negotiated& out,
                       text_view& url) noexcept;

/// Writes the whole Acknowledge chunk. @param to at least 28 bytes. @return its size.
std::size_t write_acknowledge(std::span<std::byte> to, const negotiated& agreed,
                              const limits& bounds) noexcept;

/// Writes a whole Error chunk; the reason is the name of the code, nothing of our insides.
/// @param to at least 128 bytes. @return its size.
std::size_t write_error(std::span<std::byte> to, status_code why) noexcept;

}  // namespace tagferry::opcua
