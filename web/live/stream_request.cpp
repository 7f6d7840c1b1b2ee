#include "web/live/stream_request.hpp"

#include "web/http/json_reader.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

namespace tagferry::web {
namespace {

constexpr std::uint32_t default_interval_ms = 100;
constexpr std::uint32_t longest_interval_ms = 3'600'000;
constexpr std::uint32_t largest_id = 0x7FFFFFFF;

std::optional<std::uint32_t> whole_number(json_token token, std::string_view text) noexcept {
    std::uint32_t value = 0;
    const char* const end = text.data() + text.size();
    if (token != json_token::number) {
        return std::nullopt;
    }
    const auto parsed = std::from_chars(text.data(), end, value);
    return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

/// The members of a request, as they come.
class request_reader {
  public:
    explicit request_reader(std::span<char> message) noexcept
        : message_(message), reader_({message.data(), message.size()}) {}

    stream_request read(const http_limits& limits) noexcept {
        if (reader_.next() != json_token::begin_object) {
            return malformed("a message is a JSON object");
        }
        json_token token = reader_.next();
        for (; token == json_token::name; token = reader_.next()) {
            const std::string_view name = reader_.text();
            if (!member(name, reader_.next())) {
                return malformed("the message is not JSON, or a member is there twice");
            }
        }
        if (token != json_token::end_object || reader_.next() != json_token::end) {
            return malformed("the message is not JSON");
        }
        return judge(limits);
    }

  private:
    static stream_request malformed(std::string_view detail) noexcept {
        stream_request request;
        request.detail = detail;
        return request;
    }

    bool member(std::string_view name, json_token token) noexcept {
        if (json_is(name, "op")) {
            return operation(token);
        }
        if (json_is(name, "tags")) {
            return tags(token);
        }
        if (json_is(name, "id") || json_is(name, "min_interval_ms")) {
            const auto value = whole_number(token, reader_.text());
            if (json_is(name, "id")) {
                id_ = value.value_or(0);
            } else {
                interval_ms_ = value;
                interval_wrong_ = !value;
            }
        }
        return reader_.skip(token);
    }

    bool operation(json_token token) noexcept {
        if (token == json_token::string) {
            subscribe_ = reader_.text() == "subscribe";
            unsubscribe_ = reader_.text() == "unsubscribe";
        }
        return reader_.skip(token);
    }

    /// Moves the strings together at the front of the message, all of which has been read.
    bool tags(json_token token) noexcept {
        if (has_tags_) {
            return false;
        }
        has_tags_ = true;
        if (token != json_token::begin_array) {
            tags_wrong_ = true;
            return reader_.skip(token);
        }
        for (json_token item = reader_.next(); item != json_token::end_array;
             item = reader_.next()) {
            if (item == json_token::error) {
                return false;
            }
            const std::string_view raw = reader_.text();
            if (item != json_token::string || !tag(raw)) {
                tags_wrong_ = true;
                if (!reader_.skip(item)) {
                    return false;
                }
            }
        }
        return true;
    }

    bool tag(std::string_view raw) noexcept {
        // A string takes its quotes besides, so there is room for the zero byte.
        const auto plain = json_unescape(raw, message_.subspan(used_, raw.size()));
        if (!plain || plain->empty() || plain->find('\0') != std::string_view::npos) {
            return false;
        }
        used_ += plain->size();
        message_[used_++] = '\0';
        return true;
    }

    stream_request judge(const http_limits& limits) const noexcept {
        if (!subscribe_ && !unsubscribe_) {
            return malformed("op is subscribe or unsubscribe");
        }
        if (id_ == 0 || id_ > largest_id) {
            return malformed("id is a whole number from 1 to 2147483647");
        }
        stream_request request;
        request.id = id_;
        if (unsubscribe_) {
            request.what = stream_request::operation::unsubscribe;
            return request;
        }
        request.what = stream_request::operation::refused;
        request.patterns = {message_.data(), used_};
        if (used_ == 0 || tags_wrong_) {
            request.detail = "tags is a list of paths or patterns, at least one";
            return request;
        }
        if (interval_wrong_) {
            request.detail = "min_interval_ms is a whole number of milliseconds";
            return request;
        }
        if (request.patterns.find_first_of("*?") != std::string_view::npos &&
            used_ > limits.stream_pattern_size) {
            request.detail = "the patterns are too long together";
            return request;
        }
        request.what = stream_request::operation::subscribe;
        request.min_interval = std::chrono::milliseconds(
            std::clamp(interval_ms_.value_or(default_interval_ms), limits.stream_interval_min_ms,
                       longest_interval_ms));
        return request;
    }

    std::span<char> message_;
    json_reader reader_;
    std::size_t used_ = 0;
    std::uint32_t id_ = 0;
    std::optional<std::uint32_t> interval_ms_;
    bool subscribe_ = false;
    bool unsubscribe_ = false;
    bool has_tags_ = false;
    bool tags_wrong_ = false;
    bool interval_wrong_ = false;
};

}  // namespace

stream_request read_stream_request(std::span<char> message, const http_limits& limits) noexcept {
    return request_reader(message).read(limits);
}

}  // namespace tagferry::web
