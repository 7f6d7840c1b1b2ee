#include "protocols/opcua/channel/frame.hpp"

#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "transport/bytes/endian.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace tagferry::opcua {
namespace {

struct frame_form {
    std::string_view letters;
    frame_type type;
    std::uint32_t smallest;
    bool may_be_split;
};

// HEL: five numbers and the length of a URL. ACK: five numbers. ERR: a code and the length of a
// reason. RHE: two lengths. OPN: channel id, three lengths, sequence header. MSG and CLO: channel
// id, token id, sequence header.
constexpr std::array<frame_form, 7> forms = {{
    {"HEL", frame_type::hello, 32, false},
    {"ACK", frame_type::acknowledge, 28, false},
    {"ERR", frame_type::error, 16, false},
    {"RHE", frame_type::reverse_hello, 16, false},
    {"OPN", frame_type::open, 32, false},
    {"MSG", frame_type::message, 24, true},
    {"CLO", frame_type::close, 24, false},
}};

}  // namespace

std::uint32_t smallest_frame(frame_type type) noexcept {
    return forms[static_cast<std::size_t>(type)].smallest;
}

status_code read_frame_header(std::span<const std::byte, frame_header_size> bytes,
                              std::uint32_t largest, frame_header& out) noexcept {
    const auto size = transport::load<std::uint32_t>(bytes.data() + 4, std::endian::little);
    // What nearly every frame is.
    if (std::memcmp(bytes.data(), "MSGF", 4) == 0 && size <= largest &&
        size >= smallest_frame(frame_type::message)) {
        out = {frame_type::message, chunk_kind::final, size};
        return status::good;
    }
    for (const frame_form& form : forms) {
        if (std::memcmp(bytes.data(), form.letters.data(), 3) != 0) {
            continue;
        }
        const auto kind = static_cast<char>(std::to_integer<std::uint8_t>(bytes[3]));
        if (kind != 'F' && (!form.may_be_split || (kind != 'C' && kind != 'A'))) {
            return status::bad_tcp_message_type_invalid;
        }
        if (size < form.smallest || size > largest) {
            return status::bad_tcp_message_too_large;
        }
        out = {form.type, static_cast<chunk_kind>(kind), size};
        return status::good;
    }
    return status::bad_tcp_message_type_invalid;
}

}  // namespace tagferry::opcua
