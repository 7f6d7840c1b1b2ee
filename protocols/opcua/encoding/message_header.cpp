#include "protocols/opcua/encoding/message_header.hpp"

namespace tagferry::opcua {

request_header read_request_header(decoder& in) noexcept {
    request_header header;
    header.authentication_token = in.node_id();
    in.i64();  // timestamp
    header.request_handle = in.u32();
    header.return_diagnostics = in.u32();
    in.string();  // auditEntryId
    header.timeout_hint_ms = in.u32();
    in.extension_object();  // additionalHeader: none is known, any is passed over
    return header;
}

void write_response_header(encoder& out, std::uint32_t encoding_id, std::uint32_t request_handle,
                           status_code result, std::int64_t now_ticks) noexcept {
    out.numeric_id(0, encoding_id);
    out.i64(now_ticks);
    out.u32(request_handle);
    out.u32(result);
    out.u8(0);    // serviceDiagnostics: empty
    out.i32(-1);  // stringTable: null
    out.null_extension_object();
}

}  // namespace tagferry::opcua
