#include "web/api/router.hpp"

#include <algorithm>

namespace tagferry::web {
namespace {

/// What the Allow field says of a route: HEAD is answered wherever GET is.
std::string_view allowed_by(http_method method) noexcept {
    return method == http_method::get ? std::string_view("GET, HEAD") : name_of(method);
}

}  // namespace

router::router(std::vector<route_entry> routes) : handlers_{"unmatched"}, allowed_{""} {
    for (const route_entry& added : routes) {
        const std::string_view label = added.label.empty() ? added.path : added.label;
        auto known = std::find(handlers_.begin(), handlers_.end(), label);
        if (known == handlers_.end()) {
            handlers_.push_back(label);
            allowed_.emplace_back("OPTIONS");
            known = handlers_.end() - 1;
        }
        const auto handler = static_cast<std::size_t>(known - handlers_.begin());
        const std::string method(allowed_by(added.method));
        if (!allowed_[handler].starts_with(method)) {
            allowed_[handler] = method + ", " + allowed_[handler];
        }
        const std::size_t brace = added.path.find('{');
        entries_.push_back({.route = added,
                            .literal = added.path.substr(0, brace),
                            .has_variable = brace != std::string_view::npos,
                            .handler = static_cast<std::uint16_t>(handler)});
    }
}

route_match router::route(const http_request& request) const noexcept {
    return route_of(request.method, request.path);
}

route_match router::route_of(http_method method, std::string_view path) const noexcept {
    if (method == http_method::head) {
        method = http_method::get;
    }
    route_match near;
    for (const entry& candidate : entries_) {
        const bool fits = candidate.has_variable ? path.starts_with(candidate.literal)
                                                 : path == candidate.literal;
        if (!fits) {
            continue;
        }
        near.allow = allowed_[candidate.handler];
        near.handler = candidate.handler;
        if (candidate.route.method == method) {
            near.resource = candidate.route.resource;
            near.needs = candidate.route.needs;
            near.any_host = candidate.route.any_host;
            near.kind = candidate.route.kind;
            near.counts_as_operation = candidate.route.counts_as_operation;
            near.parameter = path.substr(candidate.literal.size());
            return near;
        }
    }
    return near;
}

}  // namespace tagferry::web
