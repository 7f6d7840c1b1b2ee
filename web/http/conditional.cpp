#include "web/http/conditional.hpp"

#include <algorithm>

namespace tagferry::web {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The text up to the next comma, which is taken off `list` with it.
std::string_view next_element(std::string_view& list) noexcept {
    const std::size_t comma = list.find(',');
    const std::string_view element = trimmed(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    return element;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) noexcept {
    return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

/// A weight of nought: `q=0`, `q=0.0` and so on.
bool is_refused(std::string_view parameters) noexcept {
    const std::string_view weight = trimmed(parameters);
    return weight.size() >= 3 && equals_ignoring_case(weight.substr(0, 2), "q=") &&
           weight.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool names_entity_tag(std::string_view field, std::string_view tag) noexcept {
    while (!field.empty()) {
        // Our tags hold no comma, so cutting there loses none of them.
        std::string_view element = next_element(field);
        if (element == "*") {
            return true;
        }
        if (element.starts_with("W/")) {
            element.remove_prefix(2);
        }
        if (element == tag) {
            return true;
        }
    }
    return false;
}

bool accepts_gzip(std::string_view field) noexcept {
    bool any = false;
    while (!field.empty()) {
        const std::string_view element = next_element(field);
        const std::size_t semicolon = element.find(';');
        const std::string_view coding = trimmed(element.substr(0, semicolon));
        const bool refused =
            semicolon != std::string_view::npos && is_refused(element.substr(semicolon + 1));
        if (equals_ignoring_case(coding, "gzip") || equals_ignoring_case(coding, "x-gzip")) {
            return !refused;
        }
        any = any || (coding == "*" && !refused);
    }
    return any;
}

}  // namespace tagferry::web
