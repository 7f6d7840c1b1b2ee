// OpenSecureChannel: the asymmetric header and the service in it (Part 6 §6.7.2.3, Part 4 §5.5.2).
#pragma once

#include "protocols/opcua/encoding/message_header.hpp"
#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua {

inline constexpr text_view policy_none = "http://opcfoundation.org/UA/SecurityPolicy#None";

struct open_request {
    std::uint32_t channel_id = 0;
    text_view policy_uri{};
    std::uint32_t sequence_number = 0;
    std::uint32_t request_id = 0;
    request_header header{};
    bool renew = false;
    std::uint32_t security_mode = 0;
    std::uint32_t requested_lifetime_ms = 0;
};

/// Decodes an OPN chunk without its first eight bytes.
/// @return Good; BadSecurityPolicyRejected for any policy but None; BadSecurityChecksFailed when
///   certificates come with policy None; BadDecodingError, BadRequestTypeInvalid.
status_code read_open(bytes_view body, const limits& bounds, open_request& out) noexcept;

struct open_response {
    std::uint32_t channel_id = 0;
    std::uint32_t token_id = 0;
    std::uint32_t sequence_number = 0;
    std::uint32_t request_id = 0;
    std::uint32_t request_handle = 0;
    status_code result = 0;  ///< other than Good: a ServiceFault is written
    std::int64_t now_ticks = 0;
    std::uint32_t revised_lifetime_ms = 0;
};

/// Writes the whole OPN answer. @param to at least 512 bytes. @return its size.
std::size_t write_open(std::span<std::byte> to, const open_response& answer) noexcept;

}  // namespace tagferry::opcua
