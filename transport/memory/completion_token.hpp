// The name of one outstanding operation, as the tables of pooled records give it out.
#pragma once

#include <cstdint>

namespace tagferry::transport {

/// Names one outstanding operation of its owner; a stale generation is ignored.
struct completion_token {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const completion_token&, const completion_token&) = default;
};

}  // namespace tagferry::transport
