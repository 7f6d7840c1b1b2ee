// RequestHeader and ResponseHeader (Part 4 §7.33, §7.34).
#pragma once

#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"

#include <cstdint>

namespace tagferry::opcua {

/// The client's timestamp is no reason to refuse anything (E28) and is not kept.
struct request_header {
    node_id_view authentication_token{};
    std::uint32_t request_handle = 0;
    std::uint32_t return_diagnostics = 0;
    std::uint32_t timeout_hint_ms = 0;  ///< 0: none (E33)
};

request_header read_request_header(decoder& in) noexcept;

/// Encoding id of the message and its ResponseHeader, without diagnostics.
void write_response_header(encoder& out, std::uint32_t encoding_id, std::uint32_t request_handle,
                           status_code result, std::int64_t now_ticks) noexcept;

}  // namespace tagferry::opcua
