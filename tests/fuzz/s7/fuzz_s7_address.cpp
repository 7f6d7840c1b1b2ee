// Addresses, types and the value codec on any text and bytes. The input is an address, a type and
// a PLC's bytes, parted by line feeds.
#include "protocols/s7/types/address.hpp"
#include "protocols/s7/types/codec.hpp"
#include "protocols/s7/types/data_type.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

namespace {

using namespace tagferry::s7;

void require(bool held) {
    if (!held) {
        std::abort();
    }
}

void check_error(const parse_error& error, std::string_view text) {
    require(error.column >= 1 && error.column <= text.size() + 1 && !error.text.empty());
}

void check_codec(const data_type& type, std::uint8_t bit, std::span<const std::byte> plc) {
    for (const auto page : {code_page::windows_1252, code_page::latin_1}) {
        std::vector<std::byte> slot(slot_size(type));
        const auto result = decode_value(type, bit, plc, slot, page);
        require((result == decode_result::bad_format) == (plc.size() < plc_size(type, bit)));
        if (result == decode_result::bad_format) {
            continue;
        }
        // What was decoded can be written, and reads back as the same value.
        std::vector<std::byte> back(plc_size(type));
        std::size_t used = 0;
        require(encode_value(type, slot, back, used, page) == encode_result::good);
        require(used <= back.size());
        std::vector<std::byte> again(slot.size());
        require(decode_value(type, 0, back, again, page) == decode_result::good);
        require(slot == again);
    }
}

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    const std::string_view address_text = take_line(rest);
    const std::string_view type_text = take_line(rest);
    address where;
    if (const auto error = parse_address(address_text, where)) {
        check_error(error, address_text);
    } else {
        address again;
        require(!parse_address(to_string(where), again) && again == where);
    }
    data_type type;
    if (const auto error = parse_data_type(type_text, type)) {
        check_error(error, type_text);
        return 0;
    }
    data_type again;
    require(!parse_data_type(to_string(type), again) && again == type);
    if (!check_fit(where, type)) {
        const std::uint8_t bit = type.base == base_type::boolean ? where.bit : std::uint8_t{0};
        check_codec(type, bit, std::as_bytes(std::span(rest.data(), rest.size())));
    }
    return 0;
}
