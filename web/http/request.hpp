// One request as resources see it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

enum class http_method : std::uint8_t { get, head, options, post, put, patch, delete_, other };

/// As it stands in a request line; empty for `other`. Static storage.
std::string_view name_of(http_method method) noexcept;

/// The header fields somebody here looks at; all others are checked and forgotten.
enum class request_field : std::uint8_t {
    host,
    accept,
    accept_encoding,
    authorization,
    content_type,
    cookie,
    expect,
    if_match,
    if_none_match,
    origin,
    sec_websocket_key,
    sec_websocket_protocol,
    sec_websocket_version,
    upgrade,
    count  ///< not a field: how many there are
};

/// Views into the receive buffer, or into the slot the request was retained in. `text` is what
/// all of them lie in: request line and header section.
struct http_request {
    std::string_view text;
    std::string_view target;  ///< as received
    std::string_view path;    ///< still percent-encoded
    std::string_view query;   ///< still percent-encoded, without the `?`
    std::array<std::string_view, static_cast<std::size_t>(request_field::count)> fields{};
    std::span<const std::byte> body;
    http_method method = http_method::other;
    bool is_http_1_1 = true;
    bool keep_alive = true;
    bool upgrade = false;  ///< `Connection` names `Upgrade` (RFC 9110, 7.8)

    /// The field's value; empty when absent.
    std::string_view field(request_field name) const noexcept {
        return fields[static_cast<std::size_t>(name)];
    }

    /// Points every view into `copy`, which holds the same bytes as `text`.
    void move_to(const char* copy) noexcept;
};

}  // namespace tagferry::web
