// The seam to the protocols: who understands the text of an address and of a type.
#pragma once

#include "gateway/config/configuration.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tagferry::gateway::config {

/// What is wrong with a text and where in it: `column` counts bytes from 0.
struct text_fault {
    std::size_t column = 0;
    std::string text;
    std::string hint;
};

/// Judges addresses and types of one protocol. Called on the control plane, may allocate.
class address_checker {
  public:
    virtual ~address_checker() = default;
    /// Whether `type` is a type of the protocol.
    virtual std::optional<text_fault> check_type(std::string_view type) const = 0;
    /// Whether `address` is one of the protocol and a value of `type`, which check_type has
    /// accepted, can stand there.
    virtual std::optional<text_fault> check_address(std::string_view address,
                                                    std::string_view type) const = 0;
    /// Bytes a value of the type takes in the tag table; 0 when unknown.
    virtual std::size_t value_bytes(std::string_view type) const = 0;
};

/// The checker of the S7 source. Static storage.
const address_checker& s7_address_checker();

}  // namespace tagferry::gateway::config
