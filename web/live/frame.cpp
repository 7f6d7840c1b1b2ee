#include "web/live/frame.hpp"

#include "web/http/url.hpp"

#include <algorithm>
#include <cstring>

namespace tagferry::web {
namespace {

constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t mask_bit = 0x80;

void fail(frame_event& event, close_code code, std::string_view words) noexcept {
    event = {frame_event::kind::failed, code, words};
}

bool is_control(frame_opcode opcode) noexcept {
    return (static_cast<std::uint8_t>(opcode) & 0x8U) != 0;
}

bool is_known(std::uint8_t opcode) noexcept {
    return opcode <= 0x2 || (opcode >= 0x8 && opcode <= 0xA);
}

/// What an endpoint may send (RFC 6455, 7.4): not the codes that only report.
bool may_be_sent(std::uint16_t code) noexcept {
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

std::uint64_t big_endian(std::span<const std::byte> bytes) noexcept {
    std::uint64_t value = 0;
    for (const std::byte each : bytes) {
        value = value << 8U | std::to_integer<std::uint64_t>(each);
    }
    return value;
}

}  // namespace

std::size_t frame_reader::take(std::span<const std::byte> bytes, std::span<char> storage,
                               frame_event& event) noexcept {
    event = {};
    std::size_t taken = 0;
    if (!in_frame_) {
        taken = take_header(bytes, storage.size(), event);
        if (!in_frame_) {
            return taken;
        }
    }
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size() - taken));
    const bool control = is_control(opcode_);
    char* const to = control ? control_.data() + control_size_ : storage.data() + message_size_;
    for (std::size_t i = 0; i < part; ++i) {
        const auto plain = std::to_integer<std::uint8_t>(bytes[taken + i]);
        to[i] = static_cast<char>(plain ^ mask_[(mask_at_ + i) % mask_.size()]);
    }
    mask_at_ = static_cast<std::uint8_t>((mask_at_ + part) % mask_.size());
    (control ? control_size_ : message_size_) += part;
    remaining_ -= part;
    if (remaining_ == 0) {
        end_frame(storage, event);
    }
    return taken + part;
}

std::size_t frame_reader::take_header(std::span<const std::byte> bytes, std::size_t capacity,
                                      frame_event& event) noexcept {
    if (bytes.size() < 2) {
        return 0;
    }
    const auto first = std::to_integer<std::uint8_t>(bytes[0]);
    const auto second = std::to_integer<std::uint8_t>(bytes[1]);
    if ((first & reserved_bits) != 0 || !is_known(first & 0x0FU)) {
        fail(event, close_code::protocol_error, "a reserved bit or opcode is used");
        return 0;
    }
    if ((second & mask_bit) == 0) {
        fail(event, close_code::protocol_error, "a client's frames are masked");
        return 0;
    }
    const std::size_t coded = second & 0x7FU;
    const std::size_t extra = coded == 126 ? 2 : coded == 127 ? 8 : 0;
    const std::size_t header = 2 + extra + mask_.size();
    if (bytes.size() < header) {
        return 0;
    }
    const std::uint64_t size = extra == 0 ? coded : big_endian(bytes.subspan(2, extra));
    if ((extra == 2 && size < 126) || (extra == 8 && (size <= 0xFFFF || size >> 63U != 0))) {
        fail(event, close_code::protocol_error, "a length is not in its shortest form");
        return 0;
    }
    if (!check(static_cast<frame_opcode>(first & 0x0FU), (first & final_bit) != 0, size, capacity,
               event)) {
        return 0;
    }
    for (std::size_t i = 0; i < mask_.size(); ++i) {
        mask_[i] = std::to_integer<std::uint8_t>(bytes[2 + extra + i]);
    }
    mask_at_ = 0;
    remaining_ = size;
    in_frame_ = true;
    return header;
}

/// Whether a frame may begin here; takes note of it.
bool frame_reader::check(frame_opcode opcode, bool final, std::uint64_t size, std::size_t capacity,
                         frame_event& event) noexcept {
    if (is_control(opcode)) {
        if (!final || size > largest_control) {
            fail(event, close_code::protocol_error, "a control frame is whole and small");
            return false;
        }
        control_size_ = 0;
    } else {
        const bool goes_on = opcode == frame_opcode::continuation;
        if (goes_on != in_message_) {
            fail(event, close_code::protocol_error,
                 goes_on ? "nothing is there to be continued" : "the message before is not over");
            return false;
        }
        if (opcode == frame_opcode::binary) {
            fail(event, close_code::unsupported_data, "messages are text");
            return false;
        }
        message_size_ = goes_on ? message_size_ : 0;
        if (size > capacity - message_size_) {
            fail(event, close_code::too_large, "the message is too large");
            return false;
        }
        final_ = final;
        in_message_ = true;
    }
    opcode_ = opcode;
    return true;
}

void frame_reader::end_frame(std::span<char> storage, frame_event& event) noexcept {
    in_frame_ = false;
    if (is_control(opcode_)) {
        end_control(event);
        return;
    }
    if (!final_) {
        return;
    }
    in_message_ = false;
    const std::string_view text(storage.data(), message_size_);
    if (!is_utf8(text)) {
        fail(event, close_code::invalid_text, "the message is not UTF-8");
        return;
    }
    event = {frame_event::kind::message, close_code::none, text};
}

void frame_reader::end_control(frame_event& event) noexcept {
    const std::string_view payload(control_.data(), control_size_);
    if (opcode_ != frame_opcode::close) {
        event = {opcode_ == frame_opcode::ping ? frame_event::kind::ping : frame_event::kind::pong,
                 close_code::none, payload};
        return;
    }
    if (payload.empty()) {
        event = {frame_event::kind::close, close_code::none, {}};
        return;
    }
    if (payload.size() == 1) {
        fail(event, close_code::protocol_error, "a close code has two bytes");
        return;
    }
    const auto code = static_cast<std::uint16_t>(static_cast<std::uint8_t>(payload[0]) << 8U |
                                                 static_cast<std::uint8_t>(payload[1]));
    if (!may_be_sent(code)) {
        fail(event, close_code::protocol_error, "this close code is never sent");
        return;
    }
    if (!is_utf8(payload.substr(2))) {
        fail(event, close_code::invalid_text, "the close reason is not UTF-8");
        return;
    }
    event = {frame_event::kind::close, static_cast<close_code>(code), payload.substr(2)};
}

bool frame_writer::begin() noexcept {
    // Together, so that a short payload can move into the place of the longer header.
    if (!out_.open(header_size + largest_short)) {
        return false;
    }
    start_ = out_.position();
    static_cast<void>(out_.claim(header_size));
    return true;
}

void frame_writer::end() noexcept {
    const std::size_t payload = size();
    char* const at = out_.address(start_);
    at[0] = static_cast<char>(final_bit | static_cast<std::uint8_t>(frame_opcode::text));
    if (payload > largest_short) {
        at[1] = 126;
        at[2] = static_cast<char>(payload >> 8U);
        at[3] = static_cast<char>(payload & 0xFFU);
        return;
    }
    // RFC 6455, 5.2: a length is coded as shortly as it can be.
    at[1] = static_cast<char>(payload);
    std::memmove(at + 2, at + header_size, payload);
    out_.unclaim(2);
}

bool put_control_frame(output_chain& out, frame_opcode opcode, std::string_view payload) noexcept {
    const std::size_t size = std::min(payload.size(), frame_reader::largest_control);
    if (!out.open(2 + frame_reader::largest_control)) {
        return false;
    }
    out.put(static_cast<char>(final_bit | static_cast<std::uint8_t>(opcode)));
    out.put(static_cast<char>(size));
    out.put(payload.substr(0, size));
    return true;
}

bool put_close_frame(output_chain& out, close_code code, std::string_view words) noexcept {
    std::array<char, frame_reader::largest_control> payload{};
    if (code == close_code::none) {
        return put_control_frame(out, frame_opcode::close, {});
    }
    payload[0] = static_cast<char>(static_cast<std::uint16_t>(code) >> 8U);
    payload[1] = static_cast<char>(static_cast<std::uint16_t>(code) & 0xFFU);
    const std::size_t size = words.copy(payload.data() + 2, payload.size() - 2);
    return put_control_frame(out, frame_opcode::close, {payload.data(), 2 + size});
}

}  // namespace tagferry::web
