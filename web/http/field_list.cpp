#include "web/http/field_list.hpp"

#include <algorithm>

namespace tagferry::web {
namespace {

char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view take_element(std::string_view& list) noexcept {
    const std::size_t comma = list.find(',');
    const std::string_view element = trimmed(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    return element;
}

bool equals_ignoring_case(std::string_view one, std::string_view other) noexcept {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

bool list_has(std::string_view list, std::string_view wanted) noexcept {
    while (!list.empty()) {
        if (take_element(list) == wanted) {
            return true;
        }
    }
    return false;
}

bool list_names(std::string_view list, std::string_view wanted) noexcept {
    while (!list.empty()) {
        if (equals_ignoring_case(take_element(list), wanted)) {
            return true;
        }
    }
    return false;
}

}  // namespace tagferry::web
