// The status codes this server answers with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagferry::web {

enum class http_status : std::uint16_t {
    switching_protocols = 101,
    ok = 200,
    no_content = 204,
    not_modified = 304,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    request_timeout = 408,
    conflict = 409,
    content_too_large = 413,
    uri_too_long = 414,
    unsupported_media_type = 415,
    expectation_failed = 417,
    misdirected_request = 421,
    unprocessable_content = 422,
    upgrade_required = 426,
    header_fields_too_large = 431,
    internal_error = 500,
    not_implemented = 501,
    bad_gateway = 502,
    service_unavailable = 503,
    gateway_timeout = 504,
    version_not_supported = 505,
};

inline constexpr std::array all_statuses = {
    http_status::switching_protocols,
    http_status::ok,
    http_status::no_content,
    http_status::not_modified,
    http_status::bad_request,
    http_status::unauthorized,
    http_status::forbidden,
    http_status::not_found,
    http_status::method_not_allowed,
    http_status::request_timeout,
    http_status::conflict,
    http_status::content_too_large,
    http_status::uri_too_long,
    http_status::unsupported_media_type,
    http_status::expectation_failed,
    http_status::misdirected_request,
    http_status::unprocessable_content,
    http_status::upgrade_required,
    http_status::header_fields_too_large,
    http_status::internal_error,
    http_status::not_implemented,
    http_status::bad_gateway,
    http_status::service_unavailable,
    http_status::gateway_timeout,
    http_status::version_not_supported,
};

/// Place in `all_statuses`, for tables of counters.
constexpr std::size_t index_of(http_status status) noexcept {
    for (std::size_t i = 0; i < all_statuses.size(); ++i) {
        if (all_statuses[i] == status) {
            return i;
        }
    }
    return 0;
}

/// `HTTP/1.1 200 OK` and its line end. Static storage.
std::string_view status_line(http_status status) noexcept;

/// The registered reason phrase, e.g. "Not Found". Static storage.
std::string_view reason_phrase(http_status status) noexcept;

}  // namespace tagferry::web
