#include "web/http/conditional.hpp"

#include "web/http/field_list.hpp"

namespace tagferry::web {
namespace {

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
        std::string_view element = take_element(field);
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
        const std::string_view element = take_element(field);
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
