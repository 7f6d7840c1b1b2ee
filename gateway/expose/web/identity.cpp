#include "gateway/expose/web/identity.hpp"

#include <openssl/crypto.h>

namespace tagferry::gateway {

std::optional<web::principal> web_identity::authenticate(std::string_view bearer) const noexcept {
    std::optional<web::principal> found;
    for (const web_token& known : tokens_) {
        const bool same = !bearer.empty() && known.secret.size() == bearer.size() &&
                          CRYPTO_memcmp(known.secret.data(), bearer.data(), bearer.size()) == 0;
        if (same) {
            found = {known.name, known.role};
        }
    }
    return found;
}

}  // namespace tagferry::gateway
