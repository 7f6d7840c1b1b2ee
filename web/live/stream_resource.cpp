#include "web/live/stream_resource.hpp"

#include "transport/memory/operations.hpp"
#include "web/http/field_list.hpp"
#include "web/live/stream_socket.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace tagferry::web {
namespace {

/// A key is 16 bytes in base64.
bool is_key(std::string_view text) noexcept {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return text.size() == 24 && text.ends_with("==") &&
           text.substr(0, 22).find_first_not_of(alphabet) == std::string_view::npos;
}

/// RFC 6455, 4.2.2, 5.4.
std::string accept_of(std::string_view key) {
    const std::string salted = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(salted.data(), salted.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
        return {};
    }
    std::array<unsigned char, 32> text{};
    const int written = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(written)};
}

/// A page of another server must not read through its visitor's browser: a browser names the page
/// it acts for, everybody else names none.
bool is_own_origin(const http_request& request) noexcept {
    const std::string_view origin = request.field(request_field::origin);
    if (origin.empty()) {
        return true;
    }
    const std::size_t authority = origin.find("://");
    return authority != std::string_view::npos &&
           equals_ignoring_case(origin.substr(authority + 3), request.field(request_field::host));
}

}  // namespace

progress stream_resource::begin(exchange& with) {
    const http_request& request = with.request();
    const auto field = [&](request_field name) { return request.field(name); };
    if (request.method != http_method::get || !request.upgrade || !request.is_http_1_1 ||
        !list_names(field(request_field::upgrade), "websocket") ||
        field(request_field::sec_websocket_version) != "13") {
        return with.refuse({.status = http_status::upgrade_required,
                            .code = "upgrade_required",
                            .detail = "This path speaks WebSocket, version 13, only.",
                            .hint = "Values are to be had with GET /api/v1/values, too.",
                            .upgrade = true});
    }
    if (!is_key(field(request_field::sec_websocket_key))) {
        return with.refuse({.status = http_status::bad_request,
                            .code = "malformed_request",
                            .detail = "Sec-WebSocket-Key is not 16 bytes in base64."});
    }
    if (!list_has(field(request_field::sec_websocket_protocol), stream_subprotocol)) {
        return with.refuse({.status = http_status::bad_request,
                            .code = "unknown_subprotocol",
                            .detail = "The subprotocol tagferry.v1.json is not offered.",
                            .hint = "Offer it in Sec-WebSocket-Protocol."});
    }
    if (!is_own_origin(request)) {
        return with.refuse({.status = http_status::forbidden,
                            .code = "foreign_origin",
                            .detail = "A page of another server may not open the stream.",
                            .subject = field(request_field::origin)});
    }
    if (!hub_.has_room()) {
        stream_counters::add(hub_.counters().refused, 1);
        return with.refuse(outcome::busy);
    }
    const transport::operation_scope charged(transport::kind_control);
    const std::string fields =
        "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        accept_of(field(request_field::sec_websocket_key)) +
        "\r\nSec-WebSocket-Protocol: " + std::string(stream_subprotocol) + "\r\n";
    if (!with.answer.begin_empty(fields, http_status::switching_protocols)) {
        return with.refuse(outcome::busy);
    }
    with.upgrade_to(std::make_unique<stream_socket>(hub_, with.who()));
    return progress::finished;
}

}  // namespace tagferry::web
