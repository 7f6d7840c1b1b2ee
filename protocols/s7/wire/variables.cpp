#include "protocols/s7/wire/variables.hpp"

#include <algorithm>

namespace tagferry::s7 {

namespace {

using transport::big_endian_writer;

constexpr std::uint8_t specification_type = 0x12;
constexpr std::uint8_t specification_length = 10;
constexpr std::uint8_t syntax_any = 0x10;
constexpr std::size_t item_list_header_size = 2;  // function, count
constexpr std::size_t bits_per_byte = 8;

/// How a PLC types and measures its data for a request of one type.
struct data_form {
    data_code code;
    std::size_t element_size;
};

data_form form_of(request_type type) noexcept {
    switch (type) {
        case request_type::bit:
            return {data_code::bit, 1};
        case request_type::byte:
            return {data_code::byte_word, 1};
        case request_type::character:
            return {data_code::octets, 1};
        case request_type::word:
            return {data_code::byte_word, 2};
        case request_type::integer:
            return {data_code::integer, 2};
        case request_type::double_word:
            return {data_code::byte_word, 4};
        case request_type::double_integer:
            return {data_code::integer, 4};
        case request_type::real:
            return {data_code::real, 4};
        case request_type::wide_character:
        case request_type::counter:
        case request_type::timer:
            return {data_code::octets, 2};
    }
    return {data_code::none, 0};
}

bool counts_bits(data_code code) noexcept {
    return code == data_code::bit || code == data_code::byte_word || code == data_code::integer;
}

/// The length field of a data item.
std::uint16_t length_field(data_code code, std::size_t bytes) noexcept {
    if (code == data_code::bit) {
        return static_cast<std::uint16_t>(bytes);  // one bit travels in one byte
    }
    return static_cast<std::uint16_t>(counts_bits(code) ? bytes * bits_per_byte : bytes);
}

void put_variable(big_endian_writer& writer, const variable& item) noexcept {
    writer.u8(specification_type);
    writer.u8(specification_length);
    writer.u8(syntax_any);
    writer.u8(static_cast<std::uint8_t>(item.type));
    writer.u16(item.count);
    writer.u16(item.block);
    writer.u8(item.area_code);
    writer.u8(static_cast<std::uint8_t>(item.address >> 16));
    writer.u16(static_cast<std::uint16_t>(item.address));
}

}  // namespace

std::size_t variable::data_size() const noexcept {
    return count * form_of(type).element_size;
}

variable byte_variable(area from, std::uint16_t block, std::uint32_t start_byte,
                       std::uint16_t length) noexcept {
    return {request_type::byte, length, block, static_cast<std::uint8_t>(from), start_byte << 3};
}

variable bit_variable(area from, std::uint16_t block, std::uint32_t byte,
                      std::uint8_t bit) noexcept {
    return {request_type::bit, 1, block, static_cast<std::uint8_t>(from), byte << 3 | bit};
}

std::size_t encode_read_request(std::span<std::byte> to, std::uint16_t reference,
                                std::span<const variable> items) noexcept {
    if (items.empty() || items.size() > largest_item_count) {
        return 0;
    }
    const std::size_t parameter_size = item_list_header_size + variable_size * items.size();
    const std::size_t header = put_header(to, message_type::job, reference, parameter_size, 0);
    big_endian_writer writer(to.subspan(header));
    writer.u8(static_cast<std::uint8_t>(function_code::read_variable));
    writer.u8(static_cast<std::uint8_t>(items.size()));
    for (const variable& item : items) {
        put_variable(writer, item);
    }
    return header != 0 && writer.ok() ? header + writer.position() : 0;
}

std::size_t encode_write_request(std::span<std::byte> to, std::uint16_t reference,
                                 std::span<const write_item> items) noexcept {
    if (items.empty() || items.size() > largest_item_count || to.size() < job_header_size) {
        return 0;
    }
    big_endian_writer writer(to);
    writer.zeros(job_header_size);
    writer.u8(static_cast<std::uint8_t>(function_code::write_variable));
    writer.u8(static_cast<std::uint8_t>(items.size()));
    for (const write_item& item : items) {
        put_variable(writer, item.target);
    }
    const std::size_t data_start = writer.position();
    for (const write_item& item : items) {
        if ((writer.position() - data_start) % 2 != 0) {
            writer.u8(0);
        }
        const data_code code = form_of(item.target.type).code;
        writer.u8(0);
        writer.u8(static_cast<std::uint8_t>(code));
        writer.u16(length_field(code, item.bytes.size()));
        writer.bytes(item.bytes);
    }
    if (!writer.ok()) {
        return 0;
    }
    put_header(to, message_type::job, reference, data_start - job_header_size,
               writer.position() - data_start);
    return writer.position();
}

request_items::request_items(std::span<const std::byte> parameters) noexcept : reader_(parameters) {
    reader_.skip(1);
    count_ = reader_.u8();
    ok_ = reader_.ok() && count_ != 0;
    // Every item names its own length, so that the walk passes items of other syntaxes.
    transport::big_endian_reader check = reader_;
    for (std::size_t i = 0; ok_ && i < count_; ++i) {
        ok_ = check.u8() == specification_type;
        check.skip(check.u8());
    }
    ok_ = ok_ && check.finished();
}

bool request_items::next(variable& item, bool& supported) noexcept {
    if (!ok_ || taken_ == count_) {
        return false;
    }
    ++taken_;
    reader_.skip(1);
    transport::big_endian_reader fields(reader_.bytes(reader_.u8()));
    supported = fields.remaining() == specification_length && fields.u8() == syntax_any;
    if (!supported) {
        return true;
    }
    item.type = static_cast<request_type>(fields.u8());
    item.count = fields.u16();
    item.block = fields.u16();
    item.area_code = fields.u8();
    item.address = static_cast<std::uint32_t>(fields.u8()) << 16;
    item.address |= fields.u16();
    return true;
}

bool data_items::next(data_item& item) noexcept {
    if (taken_ == count_ || !reader_.ok()) {
        return false;
    }
    if (taken_ != 0 && reader_.position() % 2 != 0) {
        reader_.skip(1);
    }
    ++taken_;
    item.code = static_cast<item_code>(reader_.u8());
    item.type = static_cast<data_code>(reader_.u8());
    const std::size_t length = reader_.u16();
    item.bytes = {};
    // The length of a failed item is not reliable: real PLCs say 0, others 4 with nothing there.
    if (kind_ == kind::read_reply && item.code != item_code::success) {
        return reader_.ok();
    }
    const std::size_t size =
        counts_bits(item.type) ? (length + bits_per_byte - 1) / bits_per_byte : length;
    item.bytes = reader_.bytes(size);
    return reader_.ok();
}

bool data_items::finished() const noexcept {
    return reader_.ok() && taken_ == count_ && reader_.remaining() <= reader_.position() % 2;
}

read_reply_builder::read_reply_builder(std::span<std::byte> to, std::uint16_t reference,
                                       std::size_t items) noexcept
    : writer_(to), reference_(reference) {
    writer_.zeros(reply_header_size);
    writer_.u8(static_cast<std::uint8_t>(function_code::read_variable));
    writer_.u8(static_cast<std::uint8_t>(items));
}

void read_reply_builder::align() noexcept {
    // Header and parameters are 14 bytes, so that parity of the position is parity of the data.
    if (writer_.position() % 2 != 0) {
        writer_.u8(0);
    }
}

std::span<std::byte> read_reply_builder::succeed(const variable& asked) noexcept {
    const auto [code, element_size] = form_of(asked.type);
    const std::size_t size = asked.count * element_size;
    if (size == 0 || writer_.position() % 2 + item_header_size + size > writer_.remaining()) {
        return {};
    }
    align();
    writer_.u8(static_cast<std::uint8_t>(item_code::success));
    writer_.u8(static_cast<std::uint8_t>(code));
    writer_.u16(length_field(code, size));
    return writer_.reserve(size);
}

void read_reply_builder::fail(item_code code) noexcept {
    align();
    writer_.u8(static_cast<std::uint8_t>(code));
    writer_.u8(static_cast<std::uint8_t>(data_code::none));
    writer_.u16(0);
}

std::size_t read_reply_builder::finish() noexcept {
    if (!writer_.ok()) {
        return 0;
    }
    constexpr std::size_t before_data = reply_header_size + item_list_header_size;
    put_header(writer_.written(), message_type::ack_data, reference_, item_list_header_size,
               writer_.position() - before_data);
    return writer_.position();
}

std::size_t encode_write_reply(std::span<std::byte> to, std::uint16_t reference,
                               std::span<const item_code> codes) noexcept {
    if (codes.empty() || codes.size() > largest_item_count) {
        return 0;
    }
    const std::size_t header =
        put_header(to, message_type::ack_data, reference, item_list_header_size, codes.size());
    big_endian_writer writer(to.subspan(header));
    writer.u8(static_cast<std::uint8_t>(function_code::write_variable));
    writer.u8(static_cast<std::uint8_t>(codes.size()));
    for (const item_code code : codes) {
        writer.u8(static_cast<std::uint8_t>(code));
    }
    return header != 0 && writer.ok() ? header + writer.position() : 0;
}

}  // namespace tagferry::s7
