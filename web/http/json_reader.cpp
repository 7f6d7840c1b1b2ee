#include "web/http/json_reader.hpp"

#include "web/http/url.hpp"

#include <array>
#include <cstring>

namespace tagferry::web {
namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

int hex_digit(char c) noexcept {
    if (is_digit(c)) {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The four hexadecimal digits at the front of `text`, which the reader has checked.
std::uint32_t code_unit(std::string_view text) noexcept {
    std::uint32_t unit = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        unit = unit * 16 + static_cast<std::uint32_t>(hex_digit(text[i]));
    }
    return unit;
}

std::size_t encode_utf8(std::uint32_t code, std::array<char, 4>& into) noexcept {
    const auto tail = [](std::uint32_t bits) { return static_cast<char>(0x80U | (bits & 0x3FU)); };
    if (code < 0x80) {
        into[0] = static_cast<char>(code);
        return 1;
    }
    if (code < 0x800) {
        into[0] = static_cast<char>(0xC0U | (code >> 6U));
        into[1] = tail(code);
        return 2;
    }
    if (code < 0x10000) {
        into[0] = static_cast<char>(0xE0U | (code >> 12U));
        into[1] = tail(code >> 6U);
        into[2] = tail(code);
        return 3;
    }
    into[0] = static_cast<char>(0xF0U | (code >> 18U));
    into[1] = tail(code >> 12U);
    into[2] = tail(code >> 6U);
    into[3] = tail(code);
    return 4;
}

constexpr std::uint32_t replacement = 0xFFFD;

/// The character of the `\u` escapes at the front of `rest` (behind the first backslash and u),
/// and how many bytes of it they take.
std::uint32_t escaped_character(std::string_view rest, std::size_t& size) noexcept {
    const std::uint32_t first = code_unit(rest);
    size = 4;
    if (first < 0xD800 || first > 0xDFFF) {
        return first;
    }
    if (first > 0xDBFF || rest.size() < 10 || rest[4] != '\\' || rest[5] != 'u') {
        return replacement;
    }
    const std::uint32_t second = code_unit(rest.substr(6));
    if (second < 0xDC00 || second > 0xDFFF) {
        return replacement;
    }
    size = 10;
    return 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00);
}

char simple_escape(char letter) noexcept {
    switch (letter) {
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        default:
            return letter;
    }
}

}  // namespace

json_token json_reader::fail() noexcept {
    failed_ = true;
    return json_token::error;
}

void json_reader::skip_space() noexcept {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
        ++at_;
    }
}

bool json_reader::take(char wanted) noexcept {
    if (at_ < text_.size() && text_[at_] == wanted) {
        ++at_;
        return true;
    }
    return false;
}

json_token json_reader::done(json_token what) noexcept {
    expected_ = expected::after_value;
    return what;
}

json_token json_reader::next() noexcept {
    if (failed_) {
        return json_token::error;
    }
    skip_space();
    switch (expected_) {
        case expected::first_value:
            if (peek() == ']') {
                return end_container();
            }
            return value();
        case expected::value:
            return value();
        case expected::first_name:
            if (peek() == '}') {
                return end_container();
            }
            return member_name();
        case expected::name:
            return member_name();
        case expected::after_value:
            break;
    }
    if (depth_ == 0) {
        return at_ == text_.size() ? json_token::end : fail();
    }
    if (take(',')) {
        skip_space();
        return in_object() ? member_name() : value();
    }
    return end_container();
}

json_token json_reader::begin(json_token what) noexcept {
    if (depth_ == max_depth) {
        return fail();
    }
    const bool object = what == json_token::begin_object;
    const std::uint32_t bit = std::uint32_t{1} << depth_;
    objects_ = object ? objects_ | bit : objects_ & ~bit;
    ++depth_;
    expected_ = object ? expected::first_name : expected::first_value;
    return what;
}

json_token json_reader::end_container() noexcept {
    const bool object = in_object();
    if (!take(object ? '}' : ']')) {
        return fail();
    }
    --depth_;
    return done(object ? json_token::end_object : json_token::end_array);
}

json_token json_reader::value() noexcept {
    switch (peek()) {
        case '{':
            ++at_;
            return begin(json_token::begin_object);
        case '[':
            ++at_;
            return begin(json_token::begin_array);
        case '"':
            return string() ? done(json_token::string) : fail();
        case 't':
            return literal("true", json_token::true_);
        case 'f':
            return literal("false", json_token::false_);
        case 'n':
            return literal("null", json_token::null);
        default:
            return number();
    }
}

json_token json_reader::member_name() noexcept {
    if (peek() != '"' || !string()) {
        return fail();
    }
    skip_space();
    if (!take(':')) {
        return fail();
    }
    expected_ = expected::value;
    return json_token::name;
}

json_token json_reader::literal(std::string_view word, json_token what) noexcept {
    if (!text_.substr(at_).starts_with(word)) {
        return fail();
    }
    token_text_ = text_.substr(at_, word.size());
    at_ += word.size();
    return done(what);
}

std::size_t json_reader::digits() noexcept {
    const std::size_t first = at_;
    while (is_digit(peek())) {
        ++at_;
    }
    return at_ - first;
}

json_token json_reader::number() noexcept {
    const std::size_t first = at_;
    take('-');
    if (!take('0') && digits() == 0) {
        return fail();
    }
    if (take('.') && digits() == 0) {
        return fail();
    }
    if (take('e') || take('E')) {
        if (!take('+')) {
            take('-');
        }
        if (digits() == 0) {
            return fail();
        }
    }
    token_text_ = text_.substr(first, at_ - first);
    return done(json_token::number);
}

/// At the opening quote.
bool json_reader::string() noexcept {
    const std::size_t first = ++at_;
    while (at_ < text_.size()) {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        if (byte == '"') {
            token_text_ = text_.substr(first, at_ - first);
            ++at_;
            return true;
        }
        if (byte < 0x20) {
            return false;
        }
        if (byte == '\\') {
            if (!escape()) {
                return false;
            }
        } else if (byte < 0x80) {
            ++at_;
        } else {
            const std::size_t size = utf8_character_size(text_.substr(at_));
            if (size == 0) {
                return false;
            }
            at_ += size;
        }
    }
    return false;
}

/// At the backslash.
bool json_reader::escape() noexcept {
    ++at_;
    const char letter = peek();
    if (letter == 'u') {
        if (text_.size() - at_ < 5) {
            return false;
        }
        for (std::size_t i = 1; i <= 4; ++i) {
            if (hex_digit(text_[at_ + i]) < 0) {
                return false;
            }
        }
        at_ += 5;
        return true;
    }
    ++at_;
    return letter != '\0' && std::string_view("\"\\/bfnrt").find(letter) != std::string_view::npos;
}

bool json_reader::skip(json_token first) noexcept {
    if (first == json_token::error || first == json_token::end) {
        return false;
    }
    if (first != json_token::begin_object && first != json_token::begin_array) {
        return true;
    }
    const std::size_t outside = depth_ - 1;
    while (depth_ > outside) {
        if (next() == json_token::error) {
            return false;
        }
    }
    return true;
}

std::optional<std::string_view> json_unescape(std::string_view raw,
                                              std::span<char> buffer) noexcept {
    std::size_t used = 0;
    for (std::size_t at = 0; at < raw.size();) {
        std::array<char, 4> character{raw[at]};
        std::size_t size = 1;
        ++at;
        if (character[0] == '\\') {
            const char letter = raw[at++];
            character[0] = simple_escape(letter);
            if (letter == 'u') {
                std::size_t escape_size = 0;
                size = encode_utf8(escaped_character(raw.substr(at), escape_size), character);
                at += escape_size;
            }
        }
        if (buffer.size() - used < size) {
            return std::nullopt;
        }
        std::memcpy(buffer.data() + used, character.data(), size);
        used += size;
    }
    return std::string_view(buffer.data(), used);
}

}  // namespace tagferry::web
