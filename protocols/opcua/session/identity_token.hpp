// User identity tokens of ActivateSession (Part 4 §7.41).
#pragma once

#include "protocols/opcua/backend/configuration.hpp"
#include "protocols/opcua/encoding/decoder.hpp"

#include <cstdint>

namespace tagferry::opcua {

/// PolicyId of the anonymous UserTokenPolicy in every endpoint. Opaque text to clients (E25).
inline constexpr text_view anonymous_policy_id = "anonymous";

struct user_identity {
    text_view user{};         ///< empty: anonymous
    std::uint16_t roles = 0;  ///< bits of `role`
};

/// Decides who the user is.
/// @return Good; BadIdentityTokenRejected for a kind that is switched off or unknown;
///   BadIdentityTokenInvalid for a malformed token or a PolicyId of no policy here. A null token
///   is anonymous (E26); an empty PolicyId is taken, as there is one policy of the kind.
status_code read_identity(const extension_object_view& token, const settings& rules,
                          const limits& bounds, user_identity& out) noexcept;

}  // namespace tagferry::opcua
