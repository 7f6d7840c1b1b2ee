// Targets, queries, parameters and patterns from any bytes, against plain restatements.

#include "web/api/parameters.hpp"
#include "web/backend/pattern.hpp"
#include "web/http/url.hpp"

#include <cstdlib>
#include <string>

namespace tagferry::web {
namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

std::string encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string result;
    for (const char byte : text) {
        const auto code = static_cast<unsigned char>(byte);
        result += {'%', digits[code >> 4U], digits[code & 15U]};
    }
    return result;
}

// The definition of a match, tried out in every way; exponential, so for short inputs only.
bool matches_by_definition(std::string_view pattern, std::string_view path) {
    if (pattern.empty()) {
        return path.empty();
    }
    if (pattern.starts_with("**")) {
        return matches_by_definition(pattern.substr(2), path) ||
               (!path.empty() && matches_by_definition(pattern, path.substr(1)));
    }
    if (pattern.starts_with('*')) {
        return matches_by_definition(pattern.substr(1), path) ||
               (!path.empty() && path[0] != '/' && matches_by_definition(pattern, path.substr(1)));
    }
    return !path.empty() && pattern[0] == path[0] &&
           matches_by_definition(pattern.substr(1), path.substr(1));
}

void try_decoding(std::string_view text) {
    decode_buffer buffer;
    if (text.size() > buffer.size() / 3) {
        return;
    }
    if (const auto decoded = percent_decode(text, plus_sign::literal, buffer)) {
        require(is_utf8(*decoded));
        const std::string again = encoded(*decoded);
        decode_buffer second;
        const auto back = percent_decode(again, plus_sign::space, second);
        require(back && *back == *decoded);
    }
}

void try_target(std::string_view text) {
    if (const auto parts = split_target(text)) {
        require(parts->path == "*" || parts->path.starts_with('/'));
        std::size_t total = 0;
        query_reader reader(parts->query);
        while (const auto parameter = reader.next()) {
            total += parameter->name.size() + parameter->value.size();
            require(parameter->name.find('&') == std::string_view::npos);
        }
        require(total <= text.size());
    }
    list_parameters read;
    const http_limits limits;
    static_cast<void>(read_parameters(
        text, {.filter = true, .tags = true, .page = true, .max_age = true}, limits, read));
    static_cast<void>(parse_duration(text));
    static_cast<void>(parse_cursor(text));
}

void try_pattern(std::string_view text) {
    const std::size_t middle = text.find('\n');
    if (middle == std::string_view::npos) {
        return;
    }
    const std::string_view pattern = text.substr(0, middle);
    const std::string_view path = text.substr(middle + 1);
    const bool got = matches(pattern, path);
    constexpr std::size_t short_enough = 12;
    if (!pattern.empty() && pattern.size() <= short_enough && path.size() <= short_enough &&
        pattern.find('?') == std::string_view::npos) {
        require(got == matches_by_definition(pattern, path));
    }
    if (got && !pattern.empty()) {
        require(path.starts_with(literal_prefix(pattern)));
    }
}

}  // namespace
}  // namespace tagferry::web

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    tagferry::web::try_decoding(text);
    tagferry::web::try_target(text);
    tagferry::web::try_pattern(text);
    return 0;
}
