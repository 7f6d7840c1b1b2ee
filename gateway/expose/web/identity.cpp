#include "gateway/expose/web/identity.hpp"

#include <utility>

namespace tagferry::gateway {

namespace {

web::role role_of(config::token_role role) noexcept {
    switch (role) {
        case config::token_role::viewer:
            return web::role::viewer;
        case config::token_role::operator_:
            return web::role::operator_;
        case config::token_role::admin:
            return web::role::administrator;
    }
    return web::role::none;
}

}  // namespace

web_identity::web_identity(std::string_view version, transport::wall_time_ns started,
                           std::vector<const transport::shard*> shards,
                           std::vector<config::web_token> tokens)
    : version_(version), started_(started), shards_(std::move(shards)), tokens_(std::move(tokens)) {
    if (!tokens_.empty()) {
        hasher_.emplace();
    }
}

bool web_identity::healthy() const noexcept {
    for (const transport::shard* const each : shards_) {
        if (!each->healthy()) {
            return false;
        }
    }
    return true;
}

std::optional<web::principal> web_identity::authenticate(std::string_view bearer) const noexcept {
    config::token_digest digest{};
    if (!hasher_ || bearer.size() > config::max_token_size || !hasher_->digest(bearer, digest)) {
        return std::nullopt;
    }
    // Every token is compared, so that the time says nothing of where the right one stands.
    std::optional<web::principal> holder;
    for (const config::web_token& each : tokens_) {
        if (config::same_digest(each.digest, digest)) {
            holder = {each.name, role_of(each.role)};
        }
    }
    return holder;
}

}  // namespace tagferry::gateway
