// What every call into the gateway carries: who asks, until when, and whom to tell.
#pragma once

#include "transport/engine.hpp"

#include <cstdint>
#include <string_view>

namespace tagferry::opcua {

/// The well-known roles of Part 3 §4.9 as bits; one actor may have several.
enum class role : std::uint16_t {
    anonymous = 1U << 0U,
    authenticated_user = 1U << 1U,
    observer = 1U << 2U,
    operator_ = 1U << 3U,
    engineer = 1U << 4U,
    supervisor = 1U << 5U,
    configure_admin = 1U << 6U,
    security_admin = 1U << 7U,
};

/// MessageSecurityMode of Part 4 §7.20, with its numbers on the wire.
enum class security_mode : std::uint8_t { invalid = 0, none = 1, sign = 2, sign_and_encrypt = 3 };

/// Who asks. Views live as long as the call they came with; an implementation that defers copies
/// what it needs.
struct actor {
    std::uint32_t session_id = 0;     ///< numeric identifier of the SessionId, 0: no session
    std::string_view session_name{};  ///< as the client named it; untrusted text
    std::string_view user{};          ///< empty for anonymous
    std::uint16_t roles = 0;          ///< bits of `role`
    security_mode channel_security = security_mode::none;
    std::uint32_t channel_id = 0;  ///< SecureChannelId
    std::string_view peer{};       ///< the client's address as text, for the audit trail

    constexpr bool has(role which) const noexcept {
        return (roles & static_cast<std::uint16_t>(which)) != 0;
    }
};

/// Every backend call takes one. All calls are made on the OPC UA shard's thread, and so is
/// `sink->resume`, exactly once for each call whose contract says that it defers, never on the
/// stack of that call. The sink outlives every operation; a stale token is ignored by it.
struct call {
    const actor& who;
    /// When the answer is worthless; `time_point::max()`: never. A deferring implementation
    /// resumes at this time at the latest.
    transport::time_point deadline = transport::time_point::max();
    transport::completion_token token{};         ///< means nothing for calls that do not defer
    transport::completion_sink* sink = nullptr;  ///< likewise
};

}  // namespace tagferry::opcua
