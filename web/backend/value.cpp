#include "web/backend/value.hpp"

#include "web/backend/browse.hpp"

namespace tagferry::web {

std::string_view name_of(value_type type) noexcept {
    switch (type) {
        case value_type::none:
            return "none";
        case value_type::boolean:
            return "boolean";
        case value_type::int8:
            return "int8";
        case value_type::uint8:
            return "uint8";
        case value_type::int16:
            return "int16";
        case value_type::uint16:
            return "uint16";
        case value_type::int32:
            return "int32";
        case value_type::uint32:
            return "uint32";
        case value_type::int64:
            return "int64";
        case value_type::uint64:
            return "uint64";
        case value_type::float32:
            return "float32";
        case value_type::float64:
            return "float64";
        case value_type::string:
            return "string";
        case value_type::date_time:
            return "date_time";
        case value_type::byte_string:
            return "byte_string";
    }
    return "none";
}

std::size_t element_size(value_type type) noexcept {
    switch (type) {
        case value_type::boolean:
        case value_type::int8:
        case value_type::uint8:
            return 1;
        case value_type::int16:
        case value_type::uint16:
            return 2;
        case value_type::int32:
        case value_type::uint32:
        case value_type::float32:
            return 4;
        case value_type::int64:
        case value_type::uint64:
        case value_type::float64:
        case value_type::date_time:
            return 8;
        case value_type::none:
        case value_type::string:
        case value_type::byte_string:
            return 0;
    }
    return 0;
}

std::string_view name_of(node_kind kind) noexcept {
    switch (kind) {
        case node_kind::root:
            return "root";
        case node_kind::connection:
            return "connection";
        case node_kind::group:
            return "group";
        case node_kind::tag:
            return "tag";
    }
    return "root";
}

}  // namespace tagferry::web
