#include "web/http/status.hpp"

namespace tagferry::web {
namespace {

constexpr std::size_t line_prefix = std::string_view("HTTP/1.1 200 ").size();

}  // namespace

std::string_view status_line(http_status status) noexcept {
    switch (status) {
        case http_status::switching_protocols:
            return "HTTP/1.1 101 Switching Protocols\r\n";
        case http_status::ok:
            return "HTTP/1.1 200 OK\r\n";
        case http_status::no_content:
            return "HTTP/1.1 204 No Content\r\n";
        case http_status::not_modified:
            return "HTTP/1.1 304 Not Modified\r\n";
        case http_status::bad_request:
            return "HTTP/1.1 400 Bad Request\r\n";
        case http_status::unauthorized:
            return "HTTP/1.1 401 Unauthorized\r\n";
        case http_status::forbidden:
            return "HTTP/1.1 403 Forbidden\r\n";
        case http_status::not_found:
            return "HTTP/1.1 404 Not Found\r\n";
        case http_status::method_not_allowed:
            return "HTTP/1.1 405 Method Not Allowed\r\n";
        case http_status::request_timeout:
            return "HTTP/1.1 408 Request Timeout\r\n";
        case http_status::conflict:
            return "HTTP/1.1 409 Conflict\r\n";
        case http_status::content_too_large:
            return "HTTP/1.1 413 Content Too Large\r\n";
        case http_status::uri_too_long:
            return "HTTP/1.1 414 URI Too Long\r\n";
        case http_status::unsupported_media_type:
            return "HTTP/1.1 415 Unsupported Media Type\r\n";
        case http_status::expectation_failed:
            return "HTTP/1.1 417 Expectation Failed\r\n";
        case http_status::misdirected_request:
            return "HTTP/1.1 421 Misdirected Request\r\n";
        case http_status::unprocessable_content:
            return "HTTP/1.1 422 Unprocessable Content\r\n";
        case http_status::upgrade_required:
            return "HTTP/1.1 426 Upgrade Required\r\n";
        case http_status::header_fields_too_large:
            return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
        case http_status::internal_error:
            return "HTTP/1.1 500 Internal Server Error\r\n";
        case http_status::not_implemented:
            return "HTTP/1.1 501 Not Implemented\r\n";
        case http_status::bad_gateway:
            return "HTTP/1.1 502 Bad Gateway\r\n";
        case http_status::service_unavailable:
            return "HTTP/1.1 503 Service Unavailable\r\n";
        case http_status::gateway_timeout:
            return "HTTP/1.1 504 Gateway Timeout\r\n";
        case http_status::version_not_supported:
            return "HTTP/1.1 505 HTTP Version Not Supported\r\n";
    }
    return "HTTP/1.1 500 Internal Server Error\r\n";
}

std::string_view reason_phrase(http_status status) noexcept {
    std::string_view line = status_line(status);
    line.remove_prefix(line_prefix);
    line.remove_suffix(2);
    return line;
}

}  // namespace tagferry::web
