// What a client of the stream may say, taken from its JSON.
#pragma once

#include "transport/time/clock.hpp"
#include "web/http/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

struct stream_request {
    enum class operation : std::uint8_t {
        malformed,    ///< no request at all: the stream ends with 4400 and `detail`
        refused,      ///< a request with `id` that is answered with an error
        subscribe,    ///< `patterns`, `min_interval`
        unsubscribe,  ///< `id`
    };
    operation what = operation::malformed;
    std::uint32_t id = 0;
    transport::duration min_interval{};
    std::string_view patterns;  ///< paths and patterns, each ended by a zero byte
    std::string_view detail;    ///< what is wrong, for people; static
};

/// @param message a whole text message; it is overwritten, and `patterns` lies in it. Members
///   this version does not know are passed over.
stream_request read_stream_request(std::span<char> message, const http_limits& limits) noexcept;

}  // namespace tagferry::web
