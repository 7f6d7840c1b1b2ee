// JSON from clients: the reader agrees with a library on what JSON is, and whatever a text holds,
// values and requests taken from it stay within their memory.

#include "web/api/value_from_json.hpp"
#include "web/api/write_request.hpp"
#include "web/http/json_reader.hpp"
#include "web/live/stream_request.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace tagferry::web;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

bool is_json(std::string_view text) {
    json_reader reader(text);
    json_token token = reader.next();
    while (token != json_token::error && token != json_token::end) {
        if (token == json_token::string || token == json_token::name) {
            std::string buffer(reader.text().size(), '\0');
            require(json_unescape(reader.text(), buffer).has_value());
        }
        token = reader.next();
    }
    return token == json_token::end;
}

/// What a library says, as far as it can be compared: it nests deeper, takes a byte order mark
/// and a NUL for the end, and refuses numbers that no double can hold and halves of surrogate
/// pairs, which are JSON all the same.
std::optional<bool> library_says(std::string_view text) {
    std::size_t depth = 0;
    for (const char byte : text) {
        depth += byte == '[' || byte == '{' ? 1U : 0U;
    }
    if (depth > json_reader::max_depth || text.starts_with("\xEF\xBB\xBF") ||
        text.find('\0') != std::string_view::npos || text.find("\\ud") != std::string_view::npos ||
        text.find("\\uD") != std::string_view::npos) {
        return std::nullopt;
    }
    try {
        return !nlohmann::json::parse(text).is_discarded();
    } catch (const nlohmann::json::out_of_range&) {
        return std::nullopt;
    } catch (const nlohmann::json::parse_error&) {
        return false;
    }
}

void read_values(std::string_view text) {
    for (const value_type type : {value_type::boolean, value_type::int8, value_type::uint64,
                                  value_type::float32, value_type::float64, value_type::string,
                                  value_type::date_time, value_type::byte_string}) {
        for (const std::int32_t length : {scalar, std::int32_t{0}, std::int32_t{3}}) {
            std::array<std::byte, 64> slot;
            std::size_t used = 0;
            json_reader reader(text);
            read_json_value(reader, reader.next(), {type, length, 8}, slot, used);
            require(used <= slot.size());
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const bool ours = is_json(text);
    if (const auto expected = library_says(text)) {
        require(ours == *expected);
    }
    read_values(text);
    write_body body;
    require(ours || read_write(text, body).has_value());
    if (!read_writes(text, 8, body)) {
        require(ours && body.count != 0 && body.count <= 8);
        write_items walk(body.items);
        for (std::size_t i = 0; i < body.count; ++i) {
            require(walk.next().has_value());
        }
        require(!walk.next().has_value());
    }
    std::string message = text;
    const stream_request request = read_stream_request(message, http_limits{});
    require(request.what == stream_request::operation::malformed || ours);
    return 0;
}
