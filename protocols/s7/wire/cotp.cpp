#include "protocols/s7/wire/cotp.hpp"

#include "protocols/s7/wire/tpkt.hpp"
#include "transport/bytes/reader.hpp"
#include "transport/bytes/writer.hpp"

#include <bit>

namespace tagferry::s7 {

namespace {

using transport::big_endian_reader;
using transport::big_endian_writer;

constexpr std::uint8_t parameter_tpdu_size = 0xC0;
constexpr std::uint8_t parameter_calling_tsap = 0xC1;
constexpr std::uint8_t parameter_called_tsap = 0xC2;
// TPDU sizes are sent as their exponent: 7 is 128 bytes, 13 is 8192.
constexpr std::uint8_t smallest_size_exponent = 7;
constexpr std::uint8_t largest_size_exponent = 13;
constexpr std::uint8_t end_of_tsdu_bit = 0x80;
constexpr std::size_t tpdu_size_value_size = 1;

bool decode_connect_parameters(big_endian_reader reader, cotp_tpdu& out) noexcept {
    while (reader.remaining() != 0) {
        const std::uint8_t tag = reader.u8();
        const auto value = reader.bytes(reader.u8());
        if (!reader.ok()) {
            return false;
        }
        if (tag == parameter_tpdu_size) {
            const auto exponent = value.size() == tpdu_size_value_size
                                      ? std::to_integer<std::uint8_t>(value[0])
                                      : std::uint8_t{0};
            if (exponent < smallest_size_exponent || exponent > largest_size_exponent) {
                return false;
            }
            out.tpdu_size = std::size_t{1} << exponent;
        } else if (tag == parameter_calling_tsap || tag == parameter_called_tsap) {
            if (value.size() > max_tsap_size) {
                return false;
            }
            (tag == parameter_calling_tsap ? out.calling_tsap : out.called_tsap) = value;
        }
    }
    return true;
}

void put_tsap(big_endian_writer& writer, std::uint8_t tag,
              std::span<const std::byte> tsap) noexcept {
    writer.u8(tag);
    writer.u8(static_cast<std::uint8_t>(tsap.size()));
    writer.bytes(tsap);
}

void put_tpdu_size(big_endian_writer& writer, std::size_t tpdu_size) noexcept {
    writer.u8(parameter_tpdu_size);
    writer.u8(tpdu_size_value_size);
    writer.u8(static_cast<std::uint8_t>(std::countr_zero(tpdu_size)));
}

bool decode_data(std::span<const std::byte> tpdu, std::size_t header_size,
                 cotp_tpdu& out) noexcept {
    if (header_size != cotp_data_header_size) {
        return false;
    }
    out.end_of_tsdu = (std::to_integer<std::uint8_t>(tpdu[2]) & end_of_tsdu_bit) != 0;
    out.payload = tpdu.subspan(header_size);
    return true;
}

}  // namespace

bool decode_cotp(std::span<const std::byte> tpdu, cotp_tpdu& out) noexcept {
    out = {};
    big_endian_reader outer(tpdu);
    // The length indicator counts the header bytes behind itself (ISO 8073 13.2.1).
    const auto header = outer.bytes(outer.u8());
    if (!outer.ok()) {
        return false;
    }
    big_endian_reader reader(header);
    const std::uint8_t type = reader.u8();
    out.type = static_cast<cotp_type>(type);
    switch (out.type) {
        case cotp_type::data:
            return decode_data(tpdu, header.size() + 1, out);
        case cotp_type::connect_request:
        case cotp_type::connect_confirm:
            out.destination_reference = reader.u16();
            out.source_reference = reader.u16();
            out.class_option = reader.u8();
            return reader.ok() && decode_connect_parameters(
                                      big_endian_reader(header.subspan(reader.position())), out);
        case cotp_type::disconnect_request:
            out.destination_reference = reader.u16();
            out.source_reference = reader.u16();
            out.reason = reader.u8();
            return reader.ok();
        case cotp_type::disconnect_confirm:
            out.destination_reference = reader.u16();
            out.source_reference = reader.u16();
            return reader.ok();
        case cotp_type::error:
            out.destination_reference = reader.u16();
            out.reason = reader.u8();
            return reader.ok();
    }
    return false;
}

std::size_t encode_cotp_connect(std::span<std::byte> to, cotp_type type,
                                const cotp_connect& connect) noexcept {
    big_endian_writer writer(to);
    writer.zeros(tpkt_header_size);
    writer.u8(0);
    writer.u8(static_cast<std::uint8_t>(type));
    writer.u16(connect.destination_reference);
    writer.u16(connect.source_reference);
    writer.u8(0);  // class 0, no options
    // The order in which real clients ask and real PLCs confirm; any other would do.
    if (type == cotp_type::connect_confirm) {
        put_tpdu_size(writer, connect.tpdu_size);
    }
    put_tsap(writer, parameter_calling_tsap, connect.calling_tsap);
    put_tsap(writer, parameter_called_tsap, connect.called_tsap);
    if (type == cotp_type::connect_request) {
        put_tpdu_size(writer, connect.tpdu_size);
    }
    if (!writer.ok()) {
        return 0;
    }
    const std::size_t size = writer.position();
    writer.patch(tpkt_header_size, static_cast<std::uint8_t>(size - tpkt_header_size - 1));
    put_tpkt_header(to.first<tpkt_header_size>(), size);
    return size;
}

std::size_t encode_cotp_disconnect(std::span<std::byte> to, std::uint16_t destination_reference,
                                   std::uint16_t source_reference, std::uint8_t reason) noexcept {
    constexpr std::uint8_t header_size = 6;
    big_endian_writer writer(to);
    writer.zeros(tpkt_header_size);
    writer.u8(header_size);
    writer.u8(static_cast<std::uint8_t>(cotp_type::disconnect_request));
    writer.u16(destination_reference);
    writer.u16(source_reference);
    writer.u8(reason);
    if (!writer.ok()) {
        return 0;
    }
    put_tpkt_header(to.first<tpkt_header_size>(), writer.position());
    return writer.position();
}

void put_data_header(std::span<std::byte, envelope_size> to, std::size_t payload_size,
                     bool end_of_tsdu) noexcept {
    put_tpkt_header(to.first<tpkt_header_size>(), envelope_size + payload_size);
    to[tpkt_header_size] = std::byte{cotp_data_header_size - 1};
    to[tpkt_header_size + 1] = static_cast<std::byte>(cotp_type::data);
    to[tpkt_header_size + 2] = end_of_tsdu ? std::byte{end_of_tsdu_bit} : std::byte{0};
}

}  // namespace tagferry::s7
