#include "web/http/response.hpp"

#include "web/http/json_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>

namespace tagferry::web {
namespace {

// Three fields of equal size, so that one can take another's place once it is known which
// applies. White space around a value means nothing (RFC 9110, 5.5).
constexpr std::string_view length_field = "Content-Length:           ";
constexpr std::string_view chunked_field = "Transfer-Encoding: chunked";
constexpr std::string_view close_field = "Connection: close         ";
static_assert(length_field.size() == chunked_field.size());
static_assert(length_field.size() == close_field.size());

constexpr std::string_view keep_alive_field = "Connection: keep-alive";
constexpr std::string_view no_keep_alive_field = "Connection: close     ";
static_assert(keep_alive_field.size() == no_keep_alive_field.size());

constexpr std::string_view line_end = "\r\n";
// Nearly every answer begins like this; `put_head` and `begin` would write the same.
constexpr std::string_view json_type = "application/json";
constexpr std::string_view usual_head =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: application/json\r\n"
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    "Content-Length:           \r\n\r\n";
constexpr std::size_t usual_length_offset = usual_head.find("Content-Length");

constexpr std::string_view last_chunk = "0\r\n\r\n";
constexpr std::size_t chunk_digits = 8;
constexpr std::size_t chunk_header_size = chunk_digits + line_end.size();

std::string_view fields_of(caching keep) noexcept {
    switch (keep) {
        case caching::no_store:
            break;
        case caching::revalidate:
            return "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n";
        case caching::immutable:
            return "Cache-Control: public, max-age=31536000, immutable\r\n"
                   "X-Content-Type-Options: nosniff\r\n";
    }
    return "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
}

void write_chunk_header(char* at, std::size_t size) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::size_t i = chunk_digits; i-- > 0; size /= 16) {
        at[i] = digits[size % 16];
    }
    std::memcpy(at + chunk_digits, line_end.data(), line_end.size());
}

// The header fields of a problem; `allow` is one of ours and short.
std::size_t write_fields(const problem& what, std::span<char> buffer) noexcept {
    std::size_t size = 0;
    const auto put = [&](std::string_view text) {
        const std::size_t part = std::min(text.size(), buffer.size() - size);
        std::memcpy(buffer.data() + size, text.data(), part);
        size += part;
    };
    if (!what.allow.empty()) {
        put("Allow: ");
        put(what.allow);
        put(line_end);
    }
    if (what.retry) {
        put("Retry-After: 1\r\n");
    }
    if (what.challenge) {
        put("WWW-Authenticate: Bearer realm=\"tagferry\"\r\n");
    }
    if (what.upgrade) {
        put("Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    }
    return size;
}

}  // namespace

void response::reset(const http_request& request, bool keep_alive) noexcept {
    status_ = http_status::ok;
    problem_code_ = {};
    problem_detail_ = {};
    ending_ = ending::none;
    is_http_1_1_ = request.is_http_1_1;
    keep_alive_ = keep_alive;
    head_only_ = request.method == http_method::head;
    paused_ = false;
    chunk_open_ = false;
}

void response::put_head(http_status status, std::string_view content_type, std::string_view fields,
                        caching keep) noexcept {
    start_ = out_.position();
    status_ = status;
    out_.put(status_line(status));
    if (!content_type.empty()) {
        out_.put("Content-Type: ");
        out_.put(content_type);
        out_.put(line_end);
    }
    if (status != http_status::switching_protocols) {
        out_.put(fields_of(keep));
    }
    out_.put(fields);
    connection_field_ = out_.position();
    // The default of each version needs no saying (RFC 9112, 9.3).
    if (keep_alive_ != is_http_1_1_) {
        out_.put(keep_alive_ ? keep_alive_field : no_keep_alive_field);
        out_.put(line_end);
    }
}

bool response::begin(http_status status, std::string_view content_type, std::string_view fields,
                     caching keep) noexcept {
    if (!out_.open(head_size)) {
        return false;
    }
    if (status == http_status::ok && content_type == json_type && fields.empty() &&
        keep == caching::no_store && keep_alive_ == is_http_1_1_) {
        start_ = out_.position();
        status_ = status;
        out_.put(usual_head);
        connection_field_ = length_field_ = start_.behind(usual_length_offset);
        body_ = start_.behind(usual_head.size());
        ending_ = ending::undecided;
        return true;
    }
    put_head(status, content_type, fields, keep);
    length_field_ = out_.position();
    out_.put(length_field);
    out_.put("\r\n\r\n");
    body_ = out_.position();
    ending_ = ending::undecided;
    return true;
}

bool response::begin_sized(http_status status, std::string_view content_type, std::size_t size,
                           std::string_view fields, caching keep) noexcept {
    if (!begin(status, content_type, fields, keep)) {
        return false;
    }
    patch_length(size);
    ending_ = ending::length;
    return true;
}

bool response::begin_empty(std::string_view fields, http_status status, caching keep) noexcept {
    if (!out_.open(head_size)) {
        return false;
    }
    put_head(status, {}, fields, keep);
    out_.put(line_end);
    body_ = out_.position();
    ending_ = ending::length;
    return true;
}

bool response::put_problem(const problem& what) noexcept {
    if (begun()) {
        out_.rollback(start_);
        ending_ = ending::none;
    }
    out_.forget_shortage();
    if (!out_.open(2 * head_size)) {
        return false;
    }
    std::array<char, 256> fields;
    const std::size_t size = write_fields(what, fields);
    begin(what.status, "application/problem+json", {fields.data(), size});
    problem_code_ = what.code;
    problem_detail_ = what.detail;
    constexpr std::size_t longest_subject = 128;
    out_.put("{\"type\":\"urn:tagferry:problem:");
    out_.put(what.code);
    out_.put("\",\"code\":\"");
    out_.put(what.code);
    out_.put("\",\"title\":");
    put_json_string(out_, reason_phrase(what.status));
    out_.put(",\"status\":");
    put_json_number(out_, static_cast<std::uint16_t>(what.status));
    out_.put(",\"detail\":");
    put_json_string(out_, what.detail);
    if (!what.subject.empty()) {
        out_.put(",\"subject\":");
        put_json_string(out_, what.subject.substr(0, longest_subject));
    }
    if (!what.hint.empty()) {
        out_.put(",\"hint\":");
        put_json_string(out_, what.hint);
    }
    if (!what.pointer.empty()) {
        out_.put(",\"errors\":[{\"pointer\":");
        put_json_string(out_, what.pointer);
        out_.put(",\"detail\":");
        put_json_string(out_, what.detail);
        out_.put("}]");
    }
    out_.put(what.members);
    out_.put('}');
    return true;
}

void response::patch_length_field(std::string_view text) noexcept {
    std::memcpy(out_.address(length_field_), text.data(), text.size());
}

void response::patch_length(std::size_t size) noexcept {
    constexpr std::size_t name_size = std::string_view("Content-Length: ").size();
    char* const at = out_.address(length_field_) + name_size;
    std::to_chars(at, at + length_field.size() - name_size, size);
}

void response::begin_streaming() noexcept {
    if (is_http_1_1_) {
        patch_length_field(chunked_field);
        ending_ = ending::chunks;
        return;
    }
    patch_length_field(close_field);
    if (keep_alive_) {
        std::memcpy(out_.address(connection_field_), no_keep_alive_field.data(),
                    no_keep_alive_field.size());
    }
    keep_alive_ = false;
    ending_ = ending::connection_close;
}

void response::pause() noexcept {
    if (head_only_ && !paused_) {
        if (ending_ == ending::undecided) {
            begin_streaming();
        }
        out_.rollback(body_);
        paused_ = true;
        return;
    }
    if (ending_ == ending::undecided) {
        const std::size_t size = out_.size_since(body_);
        begin_streaming();
        if (ending_ == ending::chunks && size != 0) {
            write_chunk_header(out_.insert_framing(body_, chunk_header_size), size);
            out_.put_framing(line_end);
        }
    } else if (chunk_open_) {
        end_chunk();
    }
    paused_ = true;
}

bool response::resume() noexcept {
    if (ending_ != ending::chunks || chunk_open_) {
        return true;
    }
    constexpr std::size_t worthwhile = 256;
    if (!out_.open(worthwhile)) {
        out_.forget_shortage();
        return false;
    }
    chunk_ = out_.position();
    static_cast<void>(out_.claim(chunk_header_size));
    chunk_open_ = true;
    return true;
}

void response::end_chunk() noexcept {
    chunk_open_ = false;
    const std::size_t size = out_.size_since(chunk_) - chunk_header_size;
    if (size == 0) {
        out_.rollback(chunk_);
        return;
    }
    write_chunk_header(out_.address(chunk_), size);
    out_.put_framing(line_end);
}

bool response::finish() noexcept {
    if (head_only_) {
        if (!paused_) {
            if (ending_ == ending::undecided) {
                patch_length(out_.size_since(body_));
            }
            out_.rollback(body_);
        }
        return true;
    }
    if (ending_ == ending::undecided) {
        patch_length(out_.size_since(body_));
        return true;
    }
    if (ending_ == ending::chunks) {
        if (chunk_open_) {
            end_chunk();
        }
        if (out_.idle() && !out_.open(last_chunk.size())) {
            out_.forget_shortage();
            return false;
        }
        out_.put_framing(last_chunk);
    }
    return true;
}

}  // namespace tagferry::web
