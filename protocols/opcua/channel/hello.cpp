#include "protocols/opcua/channel/hello.hpp"

#include "protocols/opcua/channel/frame.hpp"
#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"

#include <algorithm>
#include <cstring>

namespace tagferry::opcua {
namespace {

constexpr std::uint32_t smallest_buffer = 8'192;  // Part 6 §7.1.2.3

void finish_frame(std::span<std::byte> to, const char* letters, std::size_t size) noexcept {
    std::memcpy(to.data(), letters, 4);
    transport::store(to.data() + 4, static_cast<std::uint32_t>(size), std::endian::little);
}

}  // namespace

status_code read_hello(bytes_view body, const limits& bounds, negotiated& out,
                       text_view& url) noexcept {
    decoder in{body, bounds};
    in.u32();  // ProtocolVersion: only 0 exists, and a server accepts higher ones
    const std::uint32_t client_receive = in.u32();
    const std::uint32_t client_send = in.u32();
    out.response_message_size = in.u32();
    const std::uint32_t client_chunk_count = in.u32();  // 0: any number
    url = in.string();
    if (!in.ok() || in.remaining() != 0) {
        return status::bad_decoding_error;
    }
    if (url.size() > bounds.max_url_length) {
        return status::bad_tcp_endpoint_url_invalid;
    }
    if (client_receive < smallest_buffer || client_send < smallest_buffer) {
        return status::bad_tcp_not_enough_resources;
    }
    out.receive_size = std::min(client_send, bounds.chunk_size);
    out.send_size = std::min(client_receive, bounds.chunk_size);
    out.response_chunk_count = client_chunk_count == 0
                                   ? bounds.max_response_chunks
                                   : std::min(client_chunk_count, bounds.max_response_chunks);
    return status::good;
}

std::size_t write_acknowledge(std::span<std::byte> to, const negotiated& agreed,
                              const limits& bounds) noexcept {
    encoder out{to.subspan(frame_header_size)};
    out.u32(0);
    out.u32(agreed.receive_size);
    out.u32(agreed.send_size);
    out.u32(bounds.max_request_size);
    out.u32(bounds.max_request_chunks);
    const std::size_t size = frame_header_size + out.used();
    finish_frame(to, "ACKF", size);
    return size;
}

std::size_t write_error(std::span<std::byte> to, status_code why) noexcept {
    encoder out{to.subspan(frame_header_size)};
    out.u32(why);
    out.string(status_name(why));
    const std::size_t size = frame_header_size + out.used();
    finish_frame(to, "ERRF", size);
    return size;
}

}  // namespace tagferry::opcua
