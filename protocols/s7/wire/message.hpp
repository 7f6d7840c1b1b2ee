// The S7 header, setup communication, and the function codes they carry.
#pragma once

#include "protocols/s7/wire/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::s7 {

enum class message_type : std::uint8_t { job = 1, ack = 2, ack_data = 3, userdata = 7 };

enum class function_code : std::uint8_t {
    read_variable = 0x04,
    write_variable = 0x05,
    setup = 0xF0
};

inline constexpr std::size_t job_header_size = 10;
inline constexpr std::size_t reply_header_size = 12;

/// One S7 PDU, its parts as views into the input.
struct s7_message {
    message_type type = message_type::job;
    std::uint16_t reference = 0;  ///< chosen by the asking side and echoed by the PLC
    std::uint16_t error = 0;      ///< of ack and ack_data: class in the high byte, then code
    std::span<const std::byte> parameters;
    std::span<const std::byte> data;

    /// First parameter byte, 0 when there are no parameters (an ack).
    std::uint8_t function() const noexcept {
        return parameters.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(parameters[0]);
    }
};

/// Decodes a PDU from its protocol id 0x32 on. False when the id or type is unknown or the sizes
/// in the header do not add up to exactly the bytes given.
bool decode_message(std::span<const std::byte> pdu, s7_message& out) noexcept;

/// Writes a header for `type`; userdata and job take 10 bytes, ack and ack_data 12 with `error`.
/// @return bytes written, or 0 when `to` is too small.
std::size_t put_header(std::span<std::byte> to, message_type type, std::uint16_t reference,
                       std::size_t parameter_size, std::size_t data_size,
                       std::uint16_t error = 0) noexcept;

/// Setup communication, request and reply alike.
struct setup_parameters {
    std::uint16_t calling_jobs = 1;  ///< jobs in flight from the connecting side
    std::uint16_t called_jobs = 1;   ///< jobs in flight towards the connecting side
    std::uint16_t pdu_size = 240;
};

/// @return PDU size in bytes written to `to`, or 0 when it does not fit.
std::size_t encode_setup_request(std::span<std::byte> to, std::uint16_t reference,
                                 const setup_parameters& setup) noexcept;
std::size_t encode_setup_reply(std::span<std::byte> to, std::uint16_t reference,
                               const setup_parameters& setup) noexcept;
/// Reads the parameters of a setup message of either direction; false when they are not one.
bool decode_setup(std::span<const std::byte> parameters, setup_parameters& out) noexcept;

/// A job answered with nothing but an error (type ack): the whole PDU is its 12-byte header.
std::size_t encode_ack(std::span<std::byte> to, std::uint16_t reference,
                       std::uint16_t error) noexcept;

}  // namespace tagferry::s7
