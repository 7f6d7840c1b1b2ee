// In the place of the product's header: each request is parsed into a message object of Beast's
// with a container of fields and a string as body, as its examples do.
#pragma once

#include "web/http/limits.hpp"
#include "web/http/request.hpp"
#include "web/http/status.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tagferry::web {

struct request_fault {
    http_status status = http_status::ok;
    std::string_view detail;
    explicit operator bool() const noexcept { return status != http_status::ok; }
};

struct head_scan {
    std::size_t size = 0;
    std::size_t clean = 0;
    request_fault fault;
};

/// The product's own.
head_scan scan_head(std::string_view bytes, std::size_t from, const http_limits& limits) noexcept;

/// GET requests without a body, which is what the load sends; refuses everything else.
class message_parser {
  public:
    explicit message_parser(const http_limits&) {}

    request_fault take_head(std::string_view head, http_request& request) {
        boost::beast::error_code error;
        parser_.emplace();
        parser_->eager(true);
        parser_->put(boost::asio::buffer(head.data(), head.size()), error);
        if (error || !parser_->is_done() ||
            parser_->get().method() != boost::beast::http::verb::get) {
            return {http_status::bad_request, "The load sends no such request."};
        }
        message_ = parser_->release();
        const auto plain = [](boost::beast::string_view text) {
            return std::string_view(text.data(), text.size());
        };
        request = {};
        request.text = head;
        request.target = plain(message_.target());
        const std::size_t mark = request.target.find('?');
        request.path = request.target.substr(0, mark);
        request.query = mark == std::string_view::npos ? std::string_view{}
                                                       : request.target.substr(mark + 1);
        request.method = http_method::get;
        request.keep_alive = message_.keep_alive();
        using boost::beast::http::field;
        const auto keep = [&](request_field as, field name) {
            request.fields[static_cast<std::size_t>(as)] = plain(message_[name]);
        };
        keep(request_field::host, field::host);
        keep(request_field::accept, field::accept);
        keep(request_field::authorization, field::authorization);
        keep(request_field::if_none_match, field::if_none_match);
        return {};
    }
    static bool wants_body() { return false; }
    void body_storage(std::span<std::byte>) noexcept {}
    request_fault take_body(std::string_view, std::size_t& consumed) {
        consumed = 0;
        return {};
    }
    static std::span<const std::byte> body() noexcept { return {}; }

  private:
    std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
    boost::beast::http::request<boost::beast::http::string_body> message_;
};

using request_parser = message_parser;

}  // namespace tagferry::web
