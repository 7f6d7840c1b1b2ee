#include "gateway/model/tag_path.hpp"

namespace tagferry::gateway {
namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";

bool needs_escape(unsigned char c) noexcept {
    return c == '/' || c == '%' || c < 0x20 || c == 0x7F;
}

void append_escape(std::string& text, unsigned char c) {
    text += '%';
    text += hex_digits[c >> 4];
    text += hex_digits[c & 0x0F];
}

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The names of a path whose escapes may be of any kind.
std::optional<std::vector<std::string>> split_and_unescape(std::string_view path) {
    // No path is longer, even with every byte of it escaped.
    if (path.size() > 3 * max_path_size) {
        return std::nullopt;
    }
    std::vector<std::string> names(1);
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '/') {
            names.emplace_back();
            continue;
        }
        if (path[i] != '%') {
            names.back() += path[i];
            continue;
        }
        if (path.size() - i < 3) {
            return std::nullopt;
        }
        const int high = hex_value(path[i + 1]);
        const int low = hex_value(path[i + 2]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        names.back() += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
        i += 2;
    }
    return names;
}

std::optional<std::string> join(const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return make_path(views);
}

/// Length of the well-formed sequence at the front of `text`; 0 when there is none.
std::size_t sequence_length(std::string_view text) noexcept {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    std::size_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
    } else if ((first & 0xF0) == 0xE0) {
        length = 3;
        low = first == 0xE0 ? 0xA0 : low;
        high = first == 0xED ? 0x9F : high;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        low = first == 0xF0 ? 0x90 : low;
        high = first == 0xF4 ? 0x8F : high;
    }
    if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

std::size_t child_path(std::string_view parent, std::string_view name,
                       std::span<char> into) noexcept {
    std::size_t size = 0;
    const auto put = [&](char c) {
        if (size < into.size()) {
            into[size] = c;
        }
        ++size;
    };
    for (const char c : parent) {
        put(c);
    }
    if (!parent.empty()) {
        put('/');
    }
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (needs_escape(byte)) {
            put('%');
            put(hex_digits[byte >> 4]);
            put(hex_digits[byte & 0x0F]);
        } else {
            put(c);
        }
    }
    return size <= into.size() ? size : 0;
}

std::optional<std::string> make_path(std::span<const std::string_view> names) {
    if (names.empty() || names.size() > max_path_names) {
        return std::nullopt;
    }
    std::string path(max_path_size, '\0');
    std::string above;
    for (const std::string_view name : names) {
        // "." and ".." would be taken out of a URL by every client (RFC 3986, 5.2.4).
        if (name.empty() || name == "." || name == ".." || !is_utf8(name)) {
            return std::nullopt;
        }
        const std::size_t size = child_path(above, name, path);
        if (size == 0) {
            return std::nullopt;
        }
        above.assign(path, 0, size);
    }
    return above;
}

std::optional<std::vector<std::string>> parse_path(std::string_view path) {
    auto names = split_and_unescape(path);
    // Canonical exactly when making it again changes nothing.
    if (!names || join(*names) != path) {
        return std::nullopt;
    }
    return names;
}

std::optional<std::string> canonical_path(std::string_view typed) {
    const auto names = split_and_unescape(typed);
    return names ? join(*names) : std::nullopt;
}

std::string node_id_text(std::string_view path) {
    return "ns=3;s=" + std::string(path);
}

std::string url_path(std::string_view path) {
    std::string text;
    for (const char c : path) {
        const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                                c == '~';
        if (unreserved || c == '/') {
            text += c;
        } else {
            append_escape(text, static_cast<unsigned char>(c));
        }
    }
    return text;
}

}  // namespace tagferry::gateway
