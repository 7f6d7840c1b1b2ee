// DataValues on their way out (Part 6 §5.2.2.17): the mask first, then only the fields it names.
#pragma once

#include "protocols/opcua/encoding/encoder.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tagferry::opcua {

/// TimestampsToReturn of Part 4 §7.40, with its numbers on the wire; others are invalid.
inline constexpr std::uint32_t timestamps_source = 0;
inline constexpr std::uint32_t timestamps_server = 1;
inline constexpr std::uint32_t timestamps_both = 2;
inline constexpr std::uint32_t timestamps_neither = 3;

/// Writes one DataValue: `begin`, the Variant when there is one, `end`.
class data_value_writer {
  public:
    data_value_writer(encoder& out, std::uint32_t timestamps) noexcept
        : out_(out),
          wants_source_(timestamps == timestamps_source || timestamps == timestamps_both),
          wants_server_(timestamps == timestamps_server || timestamps == timestamps_both) {}

    /// Writes the mask; the Variant follows from the caller when `has_value`. A time of 0 is none.
    void begin(bool has_value, status_code status, transport::wall_time_ns source,
               transport::wall_time_ns server) noexcept {
        status_ = status;
        source_ = wants_source() ? source : 0;
        server_ = wants_server() ? server : 0;
        out_.u8(static_cast<std::uint8_t>(
            (has_value ? 0x01U : 0U) | (status_ != status::good ? 0x02U : 0U) |
            (source_ != 0 ? 0x04U : 0U) | (server_ != 0 ? 0x08U : 0U)));
    }
    void end() noexcept {
        if (status_ != status::good) {
            out_.u32(status_);
        }
        if (source_ != 0) {
            out_.i64(date_time_ticks(source_));
        }
        if (server_ != 0) {
            out_.i64(date_time_ticks(server_));
        }
    }
    void only_status(status_code why, transport::wall_time_ns server) noexcept {
        begin(false, why, 0, server);
        end();
    }

    bool wants_source() const noexcept { return wants_source_; }
    bool wants_server() const noexcept { return wants_server_; }

  private:
    encoder& out_;
    bool wants_source_;
    bool wants_server_;
    status_code status_ = status::good;
    transport::wall_time_ns source_ = 0;
    transport::wall_time_ns server_ = 0;
};

/// A scalar number with its timestamps, in one piece: what most Reads are made of.
inline void write_number(encoder& out, const number_sample& current,
                         const data_value_writer& form) noexcept {
    constexpr std::size_t longest = 1 + 1 + 8 + 4 + 8 + 8;
    std::byte* const begin = out.room_for(longest);
    if (begin == nullptr) {
        return;
    }
    std::byte* at = begin + 1;
    unsigned mask = 0;
    const auto put = [&](auto value, std::size_t count, unsigned bit) {
        transport::store(at, value, std::endian::little);
        at += count;
        mask |= bit;
    };
    if (current.size != 0) {
        put(static_cast<std::uint8_t>(current.type), 1, 0x01U);
        put(current.bits, current.size, 0);  // all eight, of which what follows overwrites the rest
    }
    if (current.status != status::good) {
        put(current.status, sizeof current.status, 0x02U);
    }
    if (form.wants_source() && current.source_time != 0) {
        put(date_time_ticks(current.source_time), sizeof(std::int64_t), 0x04U);
    }
    if (form.wants_server() && current.server_time != 0) {
        put(date_time_ticks(current.server_time), sizeof(std::int64_t), 0x08U);
    }
    *begin = static_cast<std::byte>(mask);
    out.commit(at);
}

/// The sample as one number. False, and `out` means nothing, when its value is none.
inline bool number_of(const sample& current, number_sample& out) noexcept {
    const std::size_t size = slot_element_size(current.value.type);
    if (std::endian::native != std::endian::little || size == 0 ||
        current.value.array_length >= 0 || current.value.bytes.size() != size) {
        return false;
    }
    const std::byte* const from = current.value.bytes.data();
    switch (size) {
        case 1:
            out.bits = std::to_integer<std::uint8_t>(*from);
            break;
        case 2:
            out.bits = transport::load<std::uint16_t>(from, std::endian::little);
            break;
        case 4:
            out.bits = transport::load<std::uint32_t>(from, std::endian::little);
            break;
        default:
            out.bits = transport::load<std::uint64_t>(from, std::endian::little);
            break;
    }
    out.source_time = current.source_time;
    out.server_time = current.server_time;
    out.status = current.status;
    out.type = current.value.type;
    out.size = static_cast<std::uint8_t>(size);
    return true;
}

}  // namespace tagferry::opcua
