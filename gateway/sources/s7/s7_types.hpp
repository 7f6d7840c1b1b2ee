// What the gateway makes of the types and addresses of the S7 room.
#pragma once

#include "gateway/model/value_type.hpp"
#include "protocols/s7/types/data_type.hpp"

#include <string_view>

namespace tagferry::gateway {

/// The gateway's type for an S7 type: the same slot, element for element.
value_type to_value_type(const s7::data_type& type) noexcept;

/// Reads an S7 type as the configuration writes it. A `type_reader` (tags/tag_model.hpp).
bool read_s7_type(std::string_view text, value_type& type);

}  // namespace tagferry::gateway
