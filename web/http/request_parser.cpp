#include "web/http/request_parser.hpp"

#include "web/http/field_list.hpp"
#include "web/http/url.hpp"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstring>

namespace tagferry::web {
namespace {

namespace http = boost::beast::http;

// A chunked body that is not complete has at least "0\r\n\r\n" to come. With fewer bytes than that
// Beast (1.81) loses its place in the last chunk, so they are left until more are there.
constexpr std::size_t smallest_chunked_rest = 5;

std::string_view plain(boost::beast::string_view text) noexcept {
    return {text.data(), text.size()};
}

http_method method_of(http::verb method) noexcept {
    switch (method) {
        case http::verb::get:
            return http_method::get;
        case http::verb::head:
            return http_method::head;
        case http::verb::options:
            return http_method::options;
        case http::verb::post:
            return http_method::post;
        case http::verb::put:
            return http_method::put;
        case http::verb::patch:
            return http_method::patch;
        case http::verb::delete_:
            return http_method::delete_;
        default:
            return http_method::other;
    }
}

request_field field_of(http::field name) noexcept {
    switch (name) {
        case http::field::host:
            return request_field::host;
        case http::field::accept:
            return request_field::accept;
        case http::field::accept_encoding:
            return request_field::accept_encoding;
        case http::field::authorization:
            return request_field::authorization;
        case http::field::content_type:
            return request_field::content_type;
        case http::field::cookie:
            return request_field::cookie;
        case http::field::expect:
            return request_field::expect;
        case http::field::if_match:
            return request_field::if_match;
        case http::field::if_none_match:
            return request_field::if_none_match;
        case http::field::origin:
            return request_field::origin;
        case http::field::sec_websocket_key:
            return request_field::sec_websocket_key;
        case http::field::sec_websocket_protocol:
            return request_field::sec_websocket_protocol;
        case http::field::sec_websocket_version:
            return request_field::sec_websocket_version;
        case http::field::upgrade:
            return request_field::upgrade;
        default:
            return request_field::count;
    }
}

// `HTTP/d.d` at the end of the request line, whatever the digits: the peer speaks HTTP, in a
// version that is not served here.
bool names_other_version(std::string_view head) noexcept {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    if (line.size() < 9) {
        return false;
    }
    const std::string_view version = line.substr(line.size() - 8);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return line[line.size() - 9] == ' ' && version.starts_with("HTTP/") && digit(version[5]) &&
           version[6] == '.' && digit(version[7]) && version != "HTTP/1.0" && version != "HTTP/1.1";
}

constexpr request_fault bad_line_end{http_status::bad_request,
                                     "A line of the request head does not end in CR LF."};

// What is over the limits while the end of the head has not come.
request_fault over_limits(std::string_view bytes, const http_limits& limits) noexcept {
    constexpr std::size_t around_target = 64;  // method, version and spaces
    const std::size_t line_limit = limits.target_size + around_target;
    if (bytes.size() > line_limit &&
        bytes.substr(0, line_limit).find('\n') == std::string_view::npos) {
        return {http_status::uri_too_long, "The request line is too long."};
    }
    if (bytes.size() >= limits.head_size) {
        return {http_status::header_fields_too_large, "The request head is too large."};
    }
    return {};
}

}  // namespace

head_scan scan_head(std::string_view bytes, std::size_t from, const http_limits& limits) noexcept {
    std::size_t at = from;
    while (at < bytes.size()) {
        const void* const found = std::memchr(bytes.data() + at, '\n', bytes.size() - at);
        const std::size_t line_end =
            found == nullptr
                ? bytes.size()
                : static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
        if (std::memchr(bytes.data() + at, '\0', line_end - at) != nullptr) {
            return {0, at, {http_status::bad_request, "The request head holds a NUL byte."}};
        }
        if (found == nullptr) {
            at = bytes.size();
            break;
        }
        if (line_end == 0 || bytes[line_end - 1] != '\r') {
            return {0, at, bad_line_end};
        }
        if (line_end >= 3 && bytes[line_end - 2] == '\n') {
            const std::size_t size = line_end + 1;
            if (size > limits.head_size) {
                return {0, at, over_limits(bytes, limits)};
            }
            return {size, size, {}};
        }
        if (line_end + 1 == bytes.size()) {
            // What follows the line end decides whether the line is folded: look again then.
            at = line_end;
            break;
        }
        if (bytes[line_end + 1] == ' ' || bytes[line_end + 1] == '\t') {
            // RFC 9112, 5.2: a server rejects obsolete folding.
            return {0, at, {http_status::bad_request, "A header line is folded."}};
        }
        at = line_end + 1;
    }
    return {0, at, over_limits(bytes, limits)};
}

request_parser::request_parser(const http_limits& limits) : limits_(limits) {
    header_limit(static_cast<std::uint32_t>(limits.head_size));
    body_limit(limits.body_size);
    eager(false);
}

request_fault request_parser::take_head(std::string_view head, http_request& request) {
    request = {};
    request.text = head;
    request_ = &request;
    error_code error;
    put(boost::asio::const_buffer(head.data(), head.size()), error);
    request_ = nullptr;
    in_trailers_ = true;
    if (error) {
        return fault_of(error, head);
    }
    request.keep_alive = keep_alive();
    request.upgrade = upgrade();
    if (request.is_http_1_1 && !has_host_) {
        // RFC 9112, 3.2.
        return {http_status::bad_request, "The request has no Host field."};
    }
    return {};
}

request_fault request_parser::take_body(std::string_view bytes, std::size_t& consumed) {
    consumed = 0;
    while (!is_done() && consumed < bytes.size()) {
        error_code error;
        const std::string_view rest = bytes.substr(consumed);
        if (chunked() && rest.size() < smallest_chunked_rest) {
            return {};
        }
        const std::size_t taken = put(boost::asio::const_buffer(rest.data(), rest.size()), error);
        consumed += taken;
        if (error == http::error::need_more) {
            if (bytes.size() - consumed > limits_.chunk_line_size) {
                return {http_status::header_fields_too_large, "A chunk line is too long."};
            }
            return {};
        }
        if (error) {
            return fault_of(error, {});
        }
        if (taken == 0 && !is_done()) {
            return {};
        }
    }
    return {};
}

void request_parser::on_request_impl(verb method, string_view, string_view target, int version,
                                     error_code& error) {
    request_->method = method_of(method);
    request_->is_http_1_1 = version == 11;
    request_->target = plain(target);
    if (target.size() > limits_.target_size) {
        refuse(http_status::uri_too_long, "The request target is too long.", error);
        return;
    }
    if (method == verb::unknown || method == verb::connect) {
        refuse(http_status::not_implemented, "This method is not known here.", error);
        return;
    }
    const auto parts = split_target(request_->target);
    if (!parts) {
        refuse(http_status::bad_request, "The request target is not a path or an http URL.", error);
        return;
    }
    request_->path = parts->path;
    request_->query = parts->query;
}

void request_parser::on_field_impl(field name, string_view name_text, string_view value,
                                   error_code& error) {
    if (++field_count_ > limits_.field_count) {
        refuse(http_status::header_fields_too_large, "The request has too many header fields.",
               error);
        return;
    }
    if (in_trailers_) {
        // RFC 9110, 6.5.1: trailers may be discarded.
        trailer_size_ += name_text.size() + value.size();
        if (trailer_size_ > limits_.chunk_line_size) {
            refuse(http_status::header_fields_too_large, "The trailers are too large.", error);
        }
        return;
    }
    const std::string_view text = plain(value);
    switch (name) {
        case field::host:
            take_host(text, error);
            break;
        case field::content_length:
            // Repeated or listed lengths are legal when equal; refused, because the next hop
            // might choose otherwise (RFC 9112, 6.3).
            if (has_length_ || text.find(',') != std::string_view::npos) {
                refuse(http_status::bad_request, "Content-Length is repeated.", error);
            }
            has_length_ = true;
            break;
        case field::transfer_encoding:
            if (!request_->is_http_1_1) {
                refuse(http_status::bad_request, "Transfer-Encoding is not of HTTP/1.0.", error);
            } else if (!equals_ignoring_case(text, "chunked")) {
                refuse(http_status::not_implemented, "Only the transfer coding chunked is known.",
                       error);
            }
            break;
        case field::expect:
            if (!equals_ignoring_case(text, "100-continue")) {
                refuse(http_status::expectation_failed, "Only 100-continue can be expected.",
                       error);
            }
            break;
        default:
            break;
    }
    const request_field known = field_of(name);
    if (known != request_field::count) {
        auto& kept = request_->fields[static_cast<std::size_t>(known)];
        if (kept.data() == nullptr) {
            kept = text;
        }
    }
}

void request_parser::take_host(std::string_view value, error_code& error) {
    if (has_host_) {
        refuse(http_status::bad_request, "The request has more than one Host field.", error);
        return;
    }
    has_host_ = true;
    if (value.find_first_of(" \t,/@?#\\") != std::string_view::npos) {
        refuse(http_status::bad_request, "The Host field is malformed.", error);
    }
}

void request_parser::refuse(http_status status, std::string_view detail, error_code& error) {
    fault_ = {status, detail};
    error = http::error::bad_value;
}

request_fault request_parser::fault_of(const error_code& error, std::string_view head) const {
    if (fault_) {
        return fault_;
    }
    if (error == http::error::body_limit) {
        return {http_status::content_too_large, "The request body is too large."};
    }
    if (error == http::error::header_limit) {
        return {http_status::header_fields_too_large, "The request head is too large."};
    }
    if (error == http::error::bad_version && names_other_version(head)) {
        return {http_status::version_not_supported, "Only HTTP/1.0 and HTTP/1.1 are served here."};
    }
    if (error == http::error::bad_method) {
        return {http_status::bad_request, "The request line does not begin with a method."};
    }
    if (error == http::error::bad_content_length || error == http::error::multiple_content_length ||
        error == http::error::bad_transfer_encoding) {
        return {http_status::bad_request, "The length of the request body is contradictory."};
    }
    if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension) {
        return {http_status::bad_request, "The chunked request body is malformed."};
    }
    if (error == http::error::bad_line_ending) {
        return bad_line_end;
    }
    return {http_status::bad_request, "The request is malformed."};
}

// Pure in Beast; called for responses only.
void request_parser::on_response_impl(int, string_view, int, error_code&) {}

void request_parser::on_header_impl(error_code&) {}

void request_parser::on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) {}

std::size_t request_parser::on_body_impl(string_view bytes, error_code& error) {
    if (bytes.size() > storage_.size() - body_size_) {
        refuse(http_status::content_too_large, "The request body is too large.", error);
        return 0;
    }
    if (!bytes.empty()) {
        std::memcpy(storage_.data() + body_size_, bytes.data(), bytes.size());
    }
    body_size_ += bytes.size();
    return bytes.size();
}

void request_parser::on_chunk_header_impl(std::uint64_t, string_view extensions,
                                          error_code& error) {
    if (extensions.size() > limits_.chunk_line_size) {
        refuse(http_status::header_fields_too_large, "A chunk line is too long.", error);
    }
}

std::size_t request_parser::on_chunk_body_impl(std::uint64_t, string_view bytes,
                                               error_code& error) {
    return on_body_impl(bytes, error);
}

void request_parser::on_finish_impl(error_code&) {}

}  // namespace tagferry::web
