#include "gateway/sources/s7/s7_types.hpp"

namespace tagferry::gateway {
namespace {

data_type element_of(s7::base_type base) noexcept {
    switch (base) {
        case s7::base_type::boolean:
            return data_type::boolean;
        case s7::base_type::byte:
        case s7::base_type::unsigned_short_integer:
        case s7::base_type::character:
            return data_type::uint8;
        case s7::base_type::short_integer:
            return data_type::int8;
        case s7::base_type::word:
        case s7::base_type::unsigned_integer:
            return data_type::uint16;
        case s7::base_type::integer:
            return data_type::int16;
        case s7::base_type::double_word:
        case s7::base_type::unsigned_double_integer:
            return data_type::uint32;
        case s7::base_type::double_integer:
            return data_type::int32;
        case s7::base_type::long_word:
        case s7::base_type::unsigned_long_integer:
            return data_type::uint64;
        case s7::base_type::long_integer:
            return data_type::int64;
        case s7::base_type::real:
            return data_type::float32;
        case s7::base_type::long_real:
            return data_type::float64;
        case s7::base_type::string:
            return data_type::string;
    }
    return data_type::uint8;
}

}  // namespace

value_type to_value_type(const s7::data_type& type) noexcept {
    value_type made;
    made.element = element_of(type.base);
    made.array_length = type.array ? static_cast<std::int32_t>(type.elements) : -1;
    if (made.element == data_type::string) {
        made.capacity =
            static_cast<std::uint16_t>(s7::slot_element_size(type) - sizeof(std::uint16_t));
    }
    return made;
}

bool read_s7_type(std::string_view text, value_type& type) {
    s7::data_type parsed;
    if (s7::parse_data_type(text, parsed)) {
        return false;
    }
    type = to_value_type(parsed);
    return true;
}

}  // namespace tagferry::gateway
