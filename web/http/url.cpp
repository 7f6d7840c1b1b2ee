#include "web/http/url.hpp"

#include "web/http/plain_text.hpp"

#include <cstdint>
#include <cstring>

namespace tagferry::web {
namespace {

constexpr int hex_value(char digit) noexcept {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    if (digit >= 'A' && digit <= 'F') {
        return digit - 'A' + 10;
    }
    return -1;
}

constexpr std::uint8_t byte_at(std::string_view text, std::size_t index) noexcept {
    return static_cast<std::uint8_t>(text[index]);
}

/// Copies the front of `text` as far as it, looked at in groups, is made of characters that stand
/// for themselves. @return how many they are.
std::size_t plain_front(std::string_view text, plus_sign plus, std::span<char> buffer) noexcept {
    constexpr char erase = 0x7F;
    std::size_t size = 0;
    while (text.size() - size >= sizeof(std::uint64_t) &&
           buffer.size() - size >= sizeof(std::uint64_t)) {
        const std::uint64_t word = eight_characters(text.data() + size);
        if (has_control_or_foreign(word) || has_character(word, '%') ||
            has_character(word, erase) || (plus == plus_sign::space && has_character(word, '+'))) {
            break;
        }
        std::memcpy(buffer.data() + size, &word, sizeof word);
        size += sizeof word;
    }
    return size;
}

constexpr bool is_continuation(std::uint8_t byte) noexcept {
    return (byte & 0xC0U) == 0x80U;
}

}  // namespace

std::size_t utf8_character_size(std::string_view text) noexcept {
    if (text.empty()) {
        return 0;
    }
    const std::uint8_t first = byte_at(text, 0);
    if (first < 0x80) {
        return 1;
    }
    std::size_t size = 0;
    // The second byte's range excludes overlong forms, surrogates and what is past U+10FFFF.
    std::uint8_t second_low = 0x80;
    std::uint8_t second_high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        size = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        size = 3;
        second_low = first == 0xE0 ? 0xA0 : 0x80;
        second_high = first == 0xED ? 0x9F : 0xBF;
    } else if (first >= 0xF0 && first <= 0xF4) {
        size = 4;
        second_low = first == 0xF0 ? 0x90 : 0x80;
        second_high = first == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    if (text.size() < size || byte_at(text, 1) < second_low || byte_at(text, 1) > second_high) {
        return 0;
    }
    for (std::size_t i = 2; i < size; ++i) {
        if (!is_continuation(byte_at(text, i))) {
            return 0;
        }
    }
    return size;
}

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t size = utf8_character_size(text);
        if (size == 0) {
            return false;
        }
        text.remove_prefix(size);
    }
    return true;
}

std::optional<std::string_view> percent_decode(std::string_view text, plus_sign plus,
                                               std::span<char> buffer) noexcept {
    std::size_t size = plain_front(text, plus, buffer);
    bool plain = true;
    for (std::size_t i = size; i < text.size(); ++i) {
        char decoded = text[i];
        if (decoded == '%') {
            if (text.size() - i < 3) {
                return std::nullopt;
            }
            const int high = hex_value(text[i + 1]);
            const int low = hex_value(text[i + 2]);
            if (high < 0 || low < 0) {
                return std::nullopt;
            }
            decoded = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (decoded == '+' && plus == plus_sign::space) {
            decoded = ' ';
        }
        const auto byte = static_cast<std::uint8_t>(decoded);
        if (byte < 0x20 || byte == 0x7F || size == buffer.size()) {
            return std::nullopt;
        }
        plain = plain && byte < 0x80;
        buffer[size++] = decoded;
    }
    const std::string_view result(buffer.data(), size);
    if (!plain && !is_utf8(result)) {
        return std::nullopt;
    }
    return result;
}

std::optional<query_parameter> query_reader::next() noexcept {
    while (position_ < query_.size() && query_[position_] == '&') {
        ++position_;
    }
    if (position_ >= query_.size()) {
        return std::nullopt;
    }
    const std::size_t end = query_.find('&', position_);
    const std::string_view text = query_.substr(position_, end - position_);
    position_ = end == std::string_view::npos ? query_.size() : end + 1;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        return query_parameter{text, {}};
    }
    return query_parameter{text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<target_parts> split_target(std::string_view target) noexcept {
    if (target.find('#') != std::string_view::npos) {
        return std::nullopt;
    }
    if (target == "*") {
        return target_parts{target, {}};
    }
    if (!target.starts_with('/')) {
        const bool secure = target.starts_with("https://");
        if (!secure && !target.starts_with("http://")) {
            return std::nullopt;
        }
        target.remove_prefix(secure ? 8 : 7);
        const std::size_t authority_end = target.find_first_of("/?");
        if (authority_end == 0) {
            return std::nullopt;
        }
        if (authority_end == std::string_view::npos) {
            return target_parts{"/", {}};
        }
        target.remove_prefix(authority_end);
        if (target.starts_with('?')) {
            return target_parts{"/", target.substr(1)};
        }
    }
    const std::size_t question = target.find('?');
    if (question == std::string_view::npos) {
        return target_parts{target, {}};
    }
    return target_parts{target.substr(0, question), target.substr(question + 1)};
}

}  // namespace tagferry::web
