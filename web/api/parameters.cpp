#include "web/api/parameters.hpp"

#include <charconv>
#include <chrono>

namespace tagferry::web {
namespace {

constexpr problem malformed(std::string_view detail, std::string_view name,
                            std::string_view hint = {}) noexcept {
    return {.status = http_status::bad_request,
            .code = "invalid_parameter",
            .detail = detail,
            .hint = hint,
            .subject = name};
}

std::optional<problem> read_limit(std::string_view text, const http_limits& limits,
                                  std::size_t& limit) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
    if (error != std::errc{} || end != text.data() + text.size() || limit == 0 ||
        limit > limits.list_limit_max) {
        return malformed("The limit is not a number of items this server gives at once.", "limit",
                         "Ask for 1 to 1000 items and follow `next`.");
    }
    return std::nullopt;
}

std::optional<problem> check_together(const list_parameters& read,
                                      const http_limits& limits) noexcept {
    if (read.tags != 0 && !read.filter.empty()) {
        return malformed("`tag` and `filter` exclude each other.", "filter");
    }
    if (read.tags > limits.tags_per_request) {
        return malformed("The request names too many tags.", "tag",
                         "Ask for fewer at once, or by filter.");
    }
    if (read.max_age && read.tags == 0) {
        return malformed("A maximal age needs the tags by name.", "max_age",
                         "Name each with `tag=`.");
    }
    return std::nullopt;
}

std::optional<problem> read_one(const query_parameter& parameter, parameter_set known,
                                const http_limits& limits, list_parameters& read) noexcept {
    decode_buffer buffer;
    const auto value = percent_decode(parameter.value, plus_sign::space, buffer);
    if (!value) {
        return malformed("A parameter is not UTF-8 in percent-encoding.", parameter.name);
    }
    if (known.tags && parameter.name == "tag") {
        ++read.tags;
        return std::nullopt;
    }
    if (known.filter && parameter.name == "filter") {
        read.filter = parameter.value;
        return std::nullopt;
    }
    if (known.page && parameter.name == "limit") {
        return read_limit(*value, limits, read.limit);
    }
    if (known.page && parameter.name == "cursor") {
        const auto cursor = parse_cursor(*value);
        if (!cursor) {
            return malformed("The cursor is not one this server gave.", "cursor");
        }
        read.cursor = *cursor;
        return std::nullopt;
    }
    if (known.max_age && parameter.name == "max_age") {
        read.max_age = parse_duration(*value);
        if (!read.max_age) {
            return malformed("The maximal age is not a duration.", "max_age",
                             "Write 0, 500ms or 2s.");
        }
        return std::nullopt;
    }
    return malformed("This endpoint does not know a parameter of this name.", parameter.name);
}

}  // namespace

std::optional<problem> read_parameters(std::string_view query, parameter_set known,
                                       const http_limits& limits, list_parameters& read) noexcept {
    read.limit = limits.list_limit_default;
    query_reader reader(query);
    while (const auto parameter = reader.next()) {
        if (auto fault = read_one(*parameter, known, limits, read)) {
            return fault;
        }
    }
    // One tag in the path needs no naming.
    return known.tags ? check_together(read, limits) : std::nullopt;
}

std::optional<transport::duration> parse_duration(std::string_view text) noexcept {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    double seconds = 0;
    if (unit.empty() || unit == "s") {
        seconds = number;
    } else if (unit == "ms") {
        seconds = number / 1000;
    } else if (unit == "m") {
        seconds = number * 60;
    } else {
        return std::nullopt;
    }
    constexpr double day_s = 86'400;
    if (!(seconds >= 0 && seconds <= day_s)) {
        return std::nullopt;
    }
    return std::chrono::duration_cast<transport::duration>(std::chrono::duration<double>(seconds));
}

std::optional<std::uint64_t> parse_cursor(std::string_view text) noexcept {
    constexpr int hexadecimal = 16;
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::string_view> next_tag(query_reader& reader, std::span<char> buffer) noexcept {
    while (const auto parameter = reader.next()) {
        if (parameter->name == "tag") {
            return percent_decode(parameter->value, plus_sign::space, buffer);
        }
    }
    return std::nullopt;
}

}  // namespace tagferry::web
