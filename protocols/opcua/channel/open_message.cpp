#include "protocols/opcua/channel/open_message.hpp"

#include "protocols/opcua/channel/frame.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <cstring>

namespace tagferry::opcua {

status_code read_open(bytes_view body, const limits& bounds, open_request& out) noexcept {
    decoder in{body, bounds};
    out.channel_id = in.u32();
    out.policy_uri = in.string();
    in.byte_string();  // SenderCertificate
    const bytes_view receiver_thumbprint = in.byte_string();
    out.sequence_number = in.u32();
    out.request_id = in.u32();
    if (!in.ok()) {
        return in.status();
    }
    if (out.policy_uri.size() > bounds.max_policy_uri_length || out.policy_uri != policy_none) {
        return status::bad_security_policy_rejected;
    }
    // Some clients send their certificate with policy None: it proves nothing and is passed over.
    // A thumbprint of ours would mean that they expect us to decrypt.
    if (!receiver_thumbprint.empty()) {
        return status::bad_security_checks_failed;
    }
    const node_id_view type = in.node_id();
    if (type.kind != node_id_kind::numeric || type.namespace_index != 0 ||
        type.number != id::open_secure_channel_request_binary) {
        return in.ok() ? status::bad_request_type_invalid : in.status();
    }
    out.header = read_request_header(in);
    in.u32();  // clientProtocolVersion: that of the Hello, nothing to compare
    const std::uint32_t request_type = in.u32();
    out.security_mode = in.u32();
    in.byte_string();  // clientNonce: may be null, empty or any length with None (E24)
    out.requested_lifetime_ms = in.u32();
    if (!in.ok()) {
        return in.status();
    }
    if (request_type > 1) {
        return status::bad_request_type_invalid;
    }
    out.renew = request_type == 1;
    return status::good;
}

std::size_t write_open(std::span<std::byte> to, const open_response& answer) noexcept {
    encoder out{to.subspan(frame_header_size)};
    out.u32(answer.channel_id);
    out.string(policy_none);
    out.i32(-1);  // SenderCertificate
    out.i32(-1);  // ReceiverCertificateThumbprint
    out.u32(answer.sequence_number);
    out.u32(answer.request_id);
    const bool good = answer.result == status::good;
    write_response_header(out,
                          good ? id::open_secure_channel_response_binary : id::service_fault_binary,
                          answer.request_handle, answer.result, answer.now_ticks);
    if (good) {
        out.u32(0);  // serverProtocolVersion
        out.u32(answer.channel_id);
        out.u32(answer.token_id);
        out.i64(answer.now_ticks);
        out.u32(answer.revised_lifetime_ms);
        out.string("");  // serverNonce: empty with None
    }
    const std::size_t size = frame_header_size + out.used();
    std::memcpy(to.data(), "OPNF", 4);
    transport::store(to.data() + 4, static_cast<std::uint32_t>(size), std::endian::little);
    return size;
}

}  // namespace tagferry::opcua
