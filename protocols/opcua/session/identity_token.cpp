#include "protocols/opcua/session/identity_token.hpp"

#include "protocols/opcua/backend/call.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

namespace tagferry::opcua {
namespace {

status_code accept_anonymous(const settings& rules, user_identity& out) noexcept {
    if (!rules.allow_anonymous) {
        return status::bad_identity_token_rejected;
    }
    // Anonymous may look at everything; writing is a switch of its own.
    unsigned roles = static_cast<unsigned>(role::anonymous) | static_cast<unsigned>(role::observer);
    if (rules.allow_anonymous_write) {
        roles |= static_cast<unsigned>(role::operator_);
    }
    out = {{}, static_cast<std::uint16_t>(roles)};
    return status::good;
}

}  // namespace

status_code read_identity(const extension_object_view& token, const settings& rules,
                          const limits& bounds, user_identity& out) noexcept {
    if (token.type.is_null() && token.encoding == 0) {
        return accept_anonymous(rules, out);
    }
    if (token.type.kind != node_id_kind::numeric || token.type.namespace_index != 0) {
        return status::bad_identity_token_invalid;
    }
    switch (token.type.number) {
        case id::anonymous_identity_token_binary: {
            decoder in{token.body, bounds};
            const text_view policy = in.string();
            if (token.encoding != 1 || !in.ok() ||
                (!policy.empty() && policy != anonymous_policy_id)) {
                return status::bad_identity_token_invalid;
            }
            return accept_anonymous(rules, out);
        }
        case id::user_name_identity_token_binary:
        case id::x509_identity_token_binary:
        case id::issued_identity_token_binary:
            return status::bad_identity_token_rejected;
        default:
            return status::bad_identity_token_invalid;
    }
}

}  // namespace tagferry::opcua
