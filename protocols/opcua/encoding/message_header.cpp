#include "protocols/opcua/encoding/message_header.hpp"

namespace tagferry::opcua {

namespace {

constexpr std::size_t encoding_id_size = 1 + 1 + 2;
constexpr std::size_t response_header_size = 8 + 4 + 4 + 1 + 4 + 3;

// What follows the token in nearly every request: neither audit entry nor additional header.
bool read_plain_header(decoder& in, request_header& out) noexcept {
    constexpr std::size_t audit_at = 8 + 4 + 4;
    constexpr std::size_t size = audit_at + 4 + 4 + 3;
    const bytes_view rest = in.rest();
    if (rest.size() < size) {
        return false;
    }
    const auto number = [&](std::size_t at) {
        return transport::load<std::uint32_t>(rest.data() + at, std::endian::little);
    };
    const std::uint32_t audit_length = number(audit_at);
    const std::uint32_t additional = number(size - 4) >> 8U;  // the last three bytes
    if ((audit_length != 0 && audit_length != 0xFFFF'FFFF) || additional != 0) {
        return false;
    }
    out.request_handle = number(8);
    out.return_diagnostics = number(12);
    out.timeout_hint_ms = number(audit_at + 4);
    in.skip_bytes(size);
    return true;
}

// What follows the token in any other.
[[gnu::noinline]] void read_any_header(decoder& in, request_header& out) noexcept {
    in.i64();  // timestamp
    out.request_handle = in.u32();
    out.return_diagnostics = in.u32();
    in.string();  // auditEntryId
    out.timeout_hint_ms = in.u32();
    in.extension_object();  // additionalHeader: none is known, any is passed over
}

}  // namespace

request_header read_request_header(decoder& in) noexcept {
    request_header header;
    header.authentication_token = in.node_id();
    if (!read_plain_header(in, header)) [[unlikely]] {
        read_any_header(in, header);
    }
    return header;
}

void write_response_header(encoder& out, std::uint32_t encoding_id, std::uint32_t request_handle,
                           status_code result, std::int64_t now_ticks) noexcept {
    // In one piece: the id in the form of four bytes, then the header up to its last byte.
    std::byte* const begin = out.room_for(encoding_id_size + response_header_size);
    if (begin == nullptr) {
        return;
    }
    std::byte* at = begin;
    const auto put = [&](auto value) {
        transport::store(at, value, std::endian::little);
        at += sizeof value;
    };
    put(std::uint8_t{1});
    put(std::uint8_t{0});  // the standard's namespace
    put(static_cast<std::uint16_t>(encoding_id));
    put(now_ticks);
    put(request_handle);
    put(result);
    put(std::uint8_t{0});             // serviceDiagnostics: empty
    put(std::uint32_t{0xFFFF'FFFF});  // stringTable: null
    put(std::uint16_t{0});            // additionalHeader: a null NodeId,
    put(std::uint8_t{0});             // no body
    out.commit(at);
}

}  // namespace tagferry::opcua
