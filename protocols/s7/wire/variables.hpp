// Read variable (function 04) and write variable (05), both directions.
#pragma once

#include "protocols/s7/wire/codes.hpp"
#include "protocols/s7/wire/message.hpp"
#include "transport/bytes/reader.hpp"
#include "transport/bytes/writer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::s7 {

/// Memory areas by their code on the wire.
enum class area : std::uint8_t {
    counter = 0x1C,
    timer = 0x1D,
    input = 0x81,
    output = 0x82,
    memory = 0x83,
    data_block = 0x84,
    instance_block = 0x85,
};

/// Type codes of a request item.
enum class request_type : std::uint8_t {
    bit = 0x01,
    byte = 0x02,
    character = 0x03,
    word = 0x04,
    integer = 0x05,
    double_word = 0x06,
    double_integer = 0x07,
    real = 0x08,
    wide_character = 0x13,
    counter = 0x1C,
    timer = 0x1D,
};

/// Type codes of a data item: what a reply or a write carries. 03, 04, 05 count their length in
/// bits, the others in bytes.
enum class data_code : std::uint8_t {
    none = 0x00,
    bit = 0x03,
    byte_word = 0x04,
    integer = 0x05,
    double_integer = 0x06,
    real = 0x07,
    octets = 0x09,
};

/// Largest byte number an item can start at: 24 bits of address, three of them the bit.
inline constexpr std::uint32_t max_start_byte = 0x1FFFFF;

/// One request item in the "any" form (syntax id 0x10), 12 bytes.
struct variable {
    request_type type = request_type::byte;
    std::uint16_t count = 0;  ///< elements of `type`
    std::uint16_t block = 0;  ///< DB number; 0 outside data blocks
    std::uint8_t area_code = 0;
    std::uint32_t address = 0;  ///< byte << 3 | bit; the element number for timers and counters

    std::uint32_t start_byte() const noexcept { return address >> 3; }
    std::uint8_t start_bit() const noexcept { return static_cast<std::uint8_t>(address & 7); }
    /// Bytes the item's data takes, fill not counted; 0 for a type code that is not known.
    std::size_t data_size() const noexcept;

    friend bool operator==(const variable&, const variable&) = default;
};

/// `length` bytes of an area: how everything but a single bit is read and written.
variable byte_variable(area from, std::uint16_t block, std::uint32_t start_byte,
                       std::uint16_t length) noexcept;
/// One bit.
variable bit_variable(area from, std::uint16_t block, std::uint32_t byte,
                      std::uint8_t bit) noexcept;

inline constexpr std::size_t variable_size = 12;    ///< bytes of one request item
inline constexpr std::size_t item_header_size = 4;  ///< code, type and length of a data item

/// Sizes in PDU bytes. `data` is the sum over items of payload and fill (none after the last).
constexpr std::size_t read_request_size(std::size_t items) noexcept {
    return job_header_size + 2 + variable_size * items;
}
constexpr std::size_t read_reply_size(std::size_t items, std::size_t data) noexcept {
    return reply_header_size + 2 + item_header_size * items + data;
}
constexpr std::size_t write_request_size(std::size_t items, std::size_t data) noexcept {
    return job_header_size + 2 + (variable_size + item_header_size) * items + data;
}
constexpr std::size_t write_reply_size(std::size_t items) noexcept {
    return reply_header_size + 2 + items;
}

/// @return PDU size in bytes, or 0 when it does not fit or there are no or too many items.
std::size_t encode_read_request(std::span<std::byte> to, std::uint16_t reference,
                                std::span<const variable> items) noexcept;

/// One item to be written: where, and its bytes as the PLC keeps them (one byte 0 or 1 for a bit).
struct write_item {
    variable target;
    std::span<const std::byte> bytes;
};
/// Fill bytes stand between items and never after the last one, as real stations send it.
std::size_t encode_write_request(std::span<std::byte> to, std::uint16_t reference,
                                 std::span<const write_item> items) noexcept;

/// Walks the items of a read or write request.
class request_items {
  public:
    /// @param parameters of a message whose function is read or write variable.
    explicit request_items(std::span<const std::byte> parameters) noexcept;
    /// False when the count does not fit the bytes: the message is malformed.
    bool ok() const noexcept { return ok_; }
    std::size_t count() const noexcept { return count_; }
    /// The next item. False at the end. `supported` is false for another syntax id or length: the
    /// item is to be answered `not_supported`, the walk goes on.
    bool next(variable& item, bool& supported) noexcept;

  private:
    transport::big_endian_reader reader_;
    std::size_t count_ = 0;
    std::size_t taken_ = 0;
    bool ok_ = false;
};

/// One data item of a read reply or a write request.
struct data_item {
    item_code code = item_code::never_executed;  ///< 0 in a write request
    data_code type = data_code::none;
    std::span<const std::byte> bytes;  ///< empty when a read failed
};

/// Walks data items; of one that failed only its header is taken, whatever length it claims.
class data_items {
  public:
    enum class kind : std::uint8_t { read_reply, write_request };
    data_items(std::span<const std::byte> data, std::size_t count, kind what) noexcept
        : reader_(data), count_(count), kind_(what) {}
    /// The next item. False at the end, and when the data is malformed.
    bool next(data_item& item) noexcept;
    /// After the last item: true when all were there and nothing but one fill byte is left.
    bool finished() const noexcept;

  private:
    transport::big_endian_reader reader_;
    std::size_t count_;
    std::size_t taken_ = 0;
    kind kind_;
};

/// Builds a read reply item by item.
class read_reply_builder {
  public:
    /// @param to at most the negotiated PDU: an item that does not fit is refused.
    read_reply_builder(std::span<std::byte> to, std::uint16_t reference,
                       std::size_t items) noexcept;
    /// Room for the payload of the next item, in the type and unit a PLC answers `asked` with;
    /// empty when it does not fit: answer `fail(item_code::access_denied)` as a PLC does.
    std::span<std::byte> succeed(const variable& asked) noexcept;
    void fail(item_code code) noexcept;
    /// @return PDU size, or 0 when the reply did not fit at all.
    std::size_t finish() noexcept;

  private:
    void align() noexcept;
    transport::big_endian_writer writer_;
    std::uint16_t reference_;
};

/// @param codes one per item in the order of the request. @return PDU size, 0 when it does not fit.
std::size_t encode_write_reply(std::span<std::byte> to, std::uint16_t reference,
                               std::span<const item_code> codes) noexcept;

}  // namespace tagferry::s7
