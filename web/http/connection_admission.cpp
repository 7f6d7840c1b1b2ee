// Whether a request is taken: for this server, by somebody who may, with a method there is.
#include "web/http/connection_engine.hpp"
#include "web/http/field_list.hpp"

#include <algorithm>
#include <array>

namespace tagferry::web {
namespace {

constexpr std::string_view how_to_sign_in =
    "Send Authorization: Bearer with a token of this gateway; `tagferry token new` makes one and "
    "says where it is configured.";

}  // namespace

progress connection_engine::start(const route_match& match) {
    const http_request& request = exchange_.request_;
    if (!own_host_) {
        return refuse_host();
    }
    if (request.method == http_method::options && (request.path == "*" || !match.allow.empty())) {
        return answer_options(match.allow);
    }
    if (match.resource == nullptr) {
        if (match.allow.empty()) {
            return exchange_.refuse(outcome::not_found, request.path);
        }
        return exchange_.refuse({.status = http_status::method_not_allowed,
                                 .code = "method_not_allowed",
                                 .detail = "This path does not take this method.",
                                 .hint = "The Allow field names what it takes.",
                                 .allow = match.allow});
    }
    if (const auto refused = authenticate(match)) {
        return *refused;
    }
    if (exchange_.who_.role < match.needs) {
        return refuse_role();
    }
    return match.resource->begin(exchange_);
}

progress connection_engine::refuse_host() noexcept {
    return exchange_.refuse({.status = http_status::misdirected_request,
                             .code = "unknown_host",
                             .detail = "This server is not known by the name in the Host field.",
                             .hint = "Use its address, or add the name to web.host_names.",
                             .subject = exchange_.request_.field(request_field::host)});
}

/// Who asks, by their bearer token (RFC 6750); without one they are anonymous.
std::optional<progress> connection_engine::authenticate(const route_match& match) noexcept {
    actor& who = exchange_.who_;
    who.user = {};
    who.role = shared_.anonymous_role;
    const std::string_view field = exchange_.request_.field(request_field::authorization);
    if (field.empty() || match.needs == role::none) {
        return std::nullopt;
    }
    const std::size_t space = field.find(' ');
    std::optional<principal> known;
    if (space != std::string_view::npos && equals_ignoring_case(field.substr(0, space), "bearer")) {
        known = shared_.identity.authenticate(trimmed(field.substr(space + 1)));
    }
    if (!known) {
        return exchange_.refuse({.status = http_status::unauthorized,
                                 .code = "invalid_token",
                                 .detail = "The credential is not known.",
                                 .hint = how_to_sign_in,
                                 .challenge = true});
    }
    who.user = known->name;
    who.role = std::max(known->role, shared_.anonymous_role);
    return std::nullopt;
}

progress connection_engine::refuse_role() noexcept {
    if (exchange_.who_.user.empty()) {
        return exchange_.refuse({.status = http_status::unauthorized,
                                 .code = "unauthorized",
                                 .detail = "This needs a credential.",
                                 .hint = how_to_sign_in,
                                 .challenge = true});
    }
    return exchange_.refuse(outcome::forbidden);
}

progress connection_engine::answer_options(std::string_view allow) noexcept {
    std::array<char, 128> field{};
    std::size_t size = 0;
    for (const std::string_view part :
         {std::string_view("Allow: "),
          allow.empty() ? std::string_view("GET, HEAD, OPTIONS") : allow,
          std::string_view("\r\n")}) {
        size += part.copy(field.data() + size, field.size() - size);
    }
    exchange_.answer.begin_empty({field.data(), size});
    return progress::finished;
}

}  // namespace tagferry::web
