// A Publish that waits for something to say: who asked, until when, and what came of its
// acknowledgements (Part 4 §5.14.5). It holds no buffer.
#pragma once

#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/subscription/publish_channel.hpp"

#include <array>
#include <cstdint>

namespace tagferry::opcua {

enum class acknowledged : std::uint8_t { good = 0, sequence_unknown = 1, subscription_unknown = 2 };

/// Plain data in a slab.
struct publish_request {
    publish_channel* channel = nullptr;  ///< null: the connection is gone
    std::uint32_t channel_id = 0;
    std::uint32_t request_id = 0;
    std::uint32_t request_handle = 0;
    std::uint32_t next = 0;
    std::uint32_t next_free = 0;
    transport::time_point deadline = transport::time_point::max();
    std::uint32_t result_count = 0;
    std::array<std::uint8_t, most_acknowledgements / 4> results{};  ///< two bits each

    void add_result(acknowledged what) noexcept {
        std::uint8_t& four = results[result_count / 4];
        const unsigned shift = result_count % 4 * 2;
        four = static_cast<std::uint8_t>((four & ~(3U << shift)) |
                                         (static_cast<unsigned>(what) << shift));
        ++result_count;
    }
    acknowledged result(std::uint32_t at) const noexcept {
        return static_cast<acknowledged>((results[at / 4] >> (at % 4 * 2)) & 3U);
    }
};

}  // namespace tagferry::opcua
