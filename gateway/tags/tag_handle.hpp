#pragma once

#include <cstdint>

namespace tagferry::gateway {

/// Names one tag for good: when the tag is gone, its handle is stale and never another tag's.
/// Generation 0 is never given out, so a default-made handle is stale.
struct tag_handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const tag_handle&, const tag_handle&) = default;
};

}  // namespace tagferry::gateway
