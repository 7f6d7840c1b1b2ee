// Query parameters that several endpoints take, checked.
#pragma once

#include "transport/time/clock.hpp"
#include "web/http/limits.hpp"
#include "web/http/response.hpp"
#include "web/http/url.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tagferry::web {

/// Room for any decoded path or parameter: a request head is smaller. Left uninitialised.
using decode_buffer = std::array<char, 8 * 1024>;

/// What may stand in the query of a list. `filter` is still encoded.
struct list_parameters {
    std::string_view filter;
    std::uint64_t cursor = 0;
    std::size_t limit = 0;
    std::size_t tags = 0;  ///< how many `tag=` there are
    std::optional<transport::duration> max_age;
};

/// Which parameters an endpoint knows.
struct parameter_set {
    bool filter = false;
    bool tags = false;
    bool page = false;  ///< `limit` and `cursor`
    bool max_age = false;
};

/// Reads a query. A parameter that is unknown to the endpoint, malformed or out of range is a
/// problem, whose subject is the parameter's name.
std::optional<problem> read_parameters(std::string_view query, parameter_set known,
                                       const http_limits& limits, list_parameters& read) noexcept;

/// `0`, `2` (seconds), `0.5`, `500ms`, `2s`, `1m`: at most a day.
std::optional<transport::duration> parse_duration(std::string_view text) noexcept;

/// The text of a cursor is opaque to clients: hexadecimal here.
std::optional<std::uint64_t> parse_cursor(std::string_view text) noexcept;

/// The next `tag=` of a query that `read_parameters` took, decoded into `buffer`.
std::optional<std::string_view> next_tag(query_reader& reader, std::span<char> buffer) noexcept;

}  // namespace tagferry::web
