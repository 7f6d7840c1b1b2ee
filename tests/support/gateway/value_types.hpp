// Value types as tests name them.
#pragma once

#include "gateway/model/value_type.hpp"

#include <cstdint>

namespace tagferry::gateway::test {

/// @param length elements of an array; -1 for a scalar.
/// @param capacity bytes of a string.
inline value_type of(data_type element, std::int32_t length = -1, std::uint16_t capacity = 0) {
    value_type type;
    type.element = element;
    type.array_length = length;
    type.capacity = capacity;
    return type;
}

}  // namespace tagferry::gateway::test
