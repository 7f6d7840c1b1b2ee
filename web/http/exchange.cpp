#include "web/http/exchange.hpp"

#include <cstring>

namespace tagferry::web {

bool exchange::retain() noexcept {
    if (kept_) {
        return true;
    }
    kept_ = request_pool_.rent();
    if (!kept_) {
        return false;
    }
    char* const copy = reinterpret_cast<char*>(kept_.bytes().data());
    std::memcpy(copy, request_.text.data(), request_.text.size());
    // The parameter is a part of the path and moves with it.
    const std::size_t offset =
        match_.parameter.empty()
            ? 0
            : static_cast<std::size_t>(match_.parameter.data() - request_.path.data());
    request_.move_to(copy);
    if (!match_.parameter.empty()) {
        match_.parameter = request_.path.substr(offset, match_.parameter.size());
    }
    return true;
}

progress put_body(exchange& with, std::string_view body, std::size_t& sent) noexcept {
    constexpr std::size_t piece = 4096;
    output_chain& out = with.out();
    while (sent < body.size()) {
        if (out.slots_held() >= with.limits().output_high_water_slots) {
            return progress::more;
        }
        const output_chain::mark before = out.position();
        const std::string_view part = body.substr(sent, piece);
        out.put(part);
        if (!out.ok()) {
            out.rollback(before);
            return progress::more;
        }
        sent += part.size();
    }
    return progress::finished;
}

progress exchange::refuse(const problem& what) noexcept {
    // Room for a problem was reserved when the request was admitted.
    answer.put_problem(what);
    return progress::finished;
}

progress exchange::refuse(outcome why, std::string_view subject) noexcept {
    switch (why) {
        case outcome::not_found:
            return refuse({.status = http_status::not_found,
                           .code = "not_found",
                           .detail = "There is nothing at this path.",
                           .hint = "GET /api/v1/browse shows what there is.",
                           .subject = subject});
        case outcome::forbidden:
            return refuse({.status = http_status::forbidden,
                           .code = "forbidden",
                           .detail = "Your role does not allow this.",
                           .subject = subject});
        case outcome::invalid:
            return refuse({.status = http_status::bad_request,
                           .code = "invalid_argument",
                           .detail = "An argument of the request makes no sense.",
                           .subject = subject});
        case outcome::busy:
            return refuse({.status = http_status::service_unavailable,
                           .code = "busy",
                           .detail = "Too many requests of this kind are outstanding.",
                           .hint = "Try again in a moment.",
                           .retry = true});
        case outcome::timed_out:
            return refuse({.status = http_status::gateway_timeout,
                           .code = "timed_out",
                           .detail = "The device did not answer in time.",
                           .subject = subject});
        case outcome::done:
        case outcome::deferred:
        case outcome::end:
        case outcome::later:
            break;
    }
    return refuse({.status = http_status::internal_error,
                   .code = "internal",
                   .detail = "The gateway could not answer this request."});
}

}  // namespace tagferry::web
