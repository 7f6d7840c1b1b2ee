// The table of everything this server has.
#pragma once

#include "web/http/request.hpp"
#include "web/http/resource.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::web {

/// One method on one path. A template is literal, or ends in one variable part in braces, which
/// takes the rest of the path, slashes included.
struct route_entry {
    std::string_view path = {};  ///< e.g. "/api/v1/values/{path}", static storage
    /// What the request counters call it; empty: the path. Several paths may share one.
    std::string_view label = {};
    http_method method = http_method::get;
    web::resource* resource = nullptr;
    role needs = role::viewer;
    bool any_host = false;
    transport::operation_kind kind = transport::kind_other;
    bool counts_as_operation = false;
};

class router final : public site {
  public:
    /// Earlier routes are tried first. Routes of one path must have the same template, and those
    /// of one label the same methods.
    explicit router(std::vector<route_entry> routes);

    route_match route_of(http_method method, std::string_view path) const noexcept;
    route_match route(const http_request& request) const noexcept override;
    std::span<const std::string_view> handlers() const noexcept override { return handlers_; }

  private:
    struct entry {
        route_entry route;
        std::string_view literal;  // of the template, before a variable part
        bool has_variable = false;
        std::uint16_t handler = 0;
    };

    std::vector<entry> entries_;
    std::vector<std::string_view> handlers_;
    std::vector<std::string> allowed_;  // by handler: what an Allow field says
};

}  // namespace tagferry::web
