// Beast's incremental HTTP/1 parser with storage of ours: the head is kept as views, the body
// goes to a buffer of the connection's. What Beast leaves open or is lenient about (Host,
// repeated lengths, transfer codings, folded lines) is decided here.
#pragma once

#include "web/http/limits.hpp"
#include "web/http/request.hpp"
#include "web/http/status.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace tagferry::web {

/// What is wrong with a request, ready to be answered.
struct request_fault {
    http_status status = http_status::ok;  ///< `ok`: nothing
    std::string_view detail;               ///< static words
    explicit operator bool() const noexcept { return status != http_status::ok; }
};

/// What a look at not yet complete head bytes tells.
struct head_scan {
    std::size_t size = 0;   ///< bytes of the complete head with its empty line; 0: incomplete
    std::size_t clean = 0;  ///< bytes that need not be looked at again when more have come
    request_fault fault;
};

/// Looks for the end of the head in `bytes`, starting at `from` (an earlier `clean`). Refuses
/// bare line feeds, NUL bytes, folded lines and what is over the limits as soon as it shows.
head_scan scan_head(std::string_view bytes, std::size_t from, const http_limits& limits) noexcept;

/// Parses one request; made anew for each.
class request_parser final : public boost::beast::http::basic_parser<true> {
  public:
    explicit request_parser(const http_limits& limits);

    /// Takes one complete head, as `scan_head` found it. Views in `request` point into it.
    request_fault take_head(std::string_view head, http_request& request);

    /// True when a body follows that has not been taken whole.
    bool wants_body() const { return !is_done(); }

    /// Where decoded body bytes go from now on; at least `http_limits::body_size`.
    void body_storage(std::span<std::byte> storage) noexcept { storage_ = storage; }

    /// Takes body bytes, framing included, and says how many it is done with.
    request_fault take_body(std::string_view bytes, std::size_t& consumed);

    std::span<const std::byte> body() const noexcept { return storage_.first(body_size_); }

  private:
    using error_code = boost::beast::error_code;
    using string_view = boost::beast::string_view;
    using verb = boost::beast::http::verb;
    using field = boost::beast::http::field;

    void on_request_impl(verb method, string_view method_text, string_view target, int version,
                         error_code& error) override;
    void on_response_impl(int status, string_view reason, int version, error_code& error) override;
    void on_field_impl(field name, string_view name_text, string_view value,
                       error_code& error) override;
    void on_header_impl(error_code& error) override;
    void on_body_init_impl(boost::optional<std::uint64_t> const& length,
                           error_code& error) override;
    std::size_t on_body_impl(string_view bytes, error_code& error) override;
    void on_chunk_header_impl(std::uint64_t size, string_view extensions,
                              error_code& error) override;
    std::size_t on_chunk_body_impl(std::uint64_t remaining, string_view bytes,
                                   error_code& error) override;
    void on_finish_impl(error_code& error) override;

    void refuse(http_status status, std::string_view detail, error_code& error);
    void take_host(std::string_view value, error_code& error);
    request_fault fault_of(const error_code& error, std::string_view head) const;

    const http_limits& limits_;
    http_request* request_ = nullptr;  // only while the head is parsed
    std::span<std::byte> storage_;
    std::size_t body_size_ = 0;
    std::size_t field_count_ = 0;
    std::size_t trailer_size_ = 0;
    request_fault fault_;
    bool has_host_ = false;
    bool has_length_ = false;
    bool in_trailers_ = false;
};

}  // namespace tagferry::web
