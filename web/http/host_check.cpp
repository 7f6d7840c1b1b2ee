#include "web/http/host_check.hpp"

#include "web/http/field_list.hpp"

#include <algorithm>

namespace tagferry::web {
namespace {

bool is_address_v4(std::string_view name) noexcept {
    return name.find_first_not_of("0123456789.") == std::string_view::npos &&
           std::ranges::count(name, '.') == 3;
}

std::string_view without_port(std::string_view host) noexcept {
    return host.substr(0, host.rfind(':'));
}

}  // namespace

bool is_own_host(std::string_view host, std::span<const std::string> names) noexcept {
    if (host.empty() || host.starts_with('[')) {
        return true;
    }
    std::string_view name = without_port(host);
    if (name.ends_with('.')) {
        name.remove_suffix(1);
    }
    constexpr std::string_view below = ".localhost";
    if (is_address_v4(name) || equals_ignoring_case(name, "localhost") ||
        (name.size() > below.size() &&
         equals_ignoring_case(name.substr(name.size() - below.size()), below))) {
        return true;
    }
    return std::ranges::any_of(
        names, [&](const std::string& own) { return equals_ignoring_case(name, own); });
}

}  // namespace tagferry::web
