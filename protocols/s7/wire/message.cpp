#include "protocols/s7/wire/message.hpp"

#include "transport/bytes/reader.hpp"
#include "transport/bytes/writer.hpp"

namespace tagferry::s7 {

namespace {

using transport::big_endian_reader;
using transport::big_endian_writer;

constexpr std::uint8_t protocol_id = 0x32;
constexpr std::size_t setup_size = 8;

bool carries_error(message_type type) noexcept {
    return type == message_type::ack || type == message_type::ack_data;
}

std::size_t encode_setup(std::span<std::byte> to, message_type type, std::uint16_t reference,
                         const setup_parameters& setup) noexcept {
    const std::size_t header = put_header(to, type, reference, setup_size, 0);
    big_endian_writer writer(to.subspan(header));
    writer.u8(static_cast<std::uint8_t>(function_code::setup));
    writer.u8(0);
    writer.u16(setup.calling_jobs);
    writer.u16(setup.called_jobs);
    writer.u16(setup.pdu_size);
    return header != 0 && writer.ok() ? header + writer.position() : 0;
}

}  // namespace

bool decode_message(std::span<const std::byte> pdu, s7_message& out) noexcept {
    big_endian_reader reader(pdu);
    if (reader.u8() != protocol_id) {
        return false;
    }
    out.type = static_cast<message_type>(reader.u8());
    if (out.type != message_type::job && out.type != message_type::userdata &&
        !carries_error(out.type)) {
        return false;
    }
    reader.skip(2);  // redundancy identification, always 0
    out.reference = reader.u16();
    const std::size_t parameter_size = reader.u16();
    const std::size_t data_size = reader.u16();
    out.error = carries_error(out.type) ? reader.u16() : std::uint16_t{0};
    out.parameters = reader.bytes(parameter_size);
    out.data = reader.bytes(data_size);
    return reader.finished();
}

std::size_t put_header(std::span<std::byte> to, message_type type, std::uint16_t reference,
                       std::size_t parameter_size, std::size_t data_size,
                       std::uint16_t error) noexcept {
    big_endian_writer writer(to);
    writer.u8(protocol_id);
    writer.u8(static_cast<std::uint8_t>(type));
    writer.u16(0);
    writer.u16(reference);
    writer.u16(static_cast<std::uint16_t>(parameter_size));
    writer.u16(static_cast<std::uint16_t>(data_size));
    if (carries_error(type)) {
        writer.u16(error);
    }
    return writer.ok() ? writer.position() : 0;
}

std::size_t encode_setup_request(std::span<std::byte> to, std::uint16_t reference,
                                 const setup_parameters& setup) noexcept {
    return encode_setup(to, message_type::job, reference, setup);
}

std::size_t encode_setup_reply(std::span<std::byte> to, std::uint16_t reference,
                               const setup_parameters& setup) noexcept {
    return encode_setup(to, message_type::ack_data, reference, setup);
}

bool decode_setup(std::span<const std::byte> parameters, setup_parameters& out) noexcept {
    big_endian_reader reader(parameters);
    if (reader.u8() != static_cast<std::uint8_t>(function_code::setup)) {
        return false;
    }
    reader.skip(1);
    out.calling_jobs = reader.u16();
    out.called_jobs = reader.u16();
    out.pdu_size = reader.u16();
    return reader.finished();
}

std::size_t encode_ack(std::span<std::byte> to, std::uint16_t reference,
                       std::uint16_t error) noexcept {
    return put_header(to, message_type::ack, reference, 0, 0, error);
}

}  // namespace tagferry::s7
