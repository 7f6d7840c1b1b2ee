#include "gateway/cli/value_text.hpp"

#include "gateway/cli/gateway_client.hpp"
#include "gateway/cli/terminal.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace tagferry::gateway::cli {

namespace {

using nlohmann::json;

template <std::size_t Count>
bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 15> whole_types = {
    "BYTE", "WORD",  "DWORD", "LWORD", "SINT", "USINT",  "INT",  "UINT",
    "DINT", "UDINT", "LINT",  "ULINT", "TIME", "S5TIME", "LTIME"};
constexpr std::array<std::string_view, 3> long_types = {"LWORD", "LINT", "ULINT"};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    const std::size_t last = text.find_last_not_of(" \t");
    return text.substr(first, last == std::string_view::npos ? 0 : last + 1 - first);
}

client_fault refused(std::string_view text, std::string_view type, const std::string& wanted) {
    return {exit_code::bad_data,
            "\"" + printable(text) + "\" is no " + std::string{type} + ": write " + wanted};
}

json boolean_of(std::string_view text, std::string_view type) {
    constexpr std::array<std::string_view, 4> yes = {"true", "TRUE", "on", "1"};
    constexpr std::array<std::string_view, 4> no = {"false", "FALSE", "off", "0"};
    if (is_one_of(text, yes)) {
        return true;
    }
    if (is_one_of(text, no)) {
        return false;
    }
    throw refused(text, type, "true or false");
}

// The digits of `16#1F`, `0x1F` or `2#1010` and their base; 10 for anything else.
int base_of(std::string_view& digits) {
    for (const auto& [prefix, base] : {std::pair<std::string_view, int>{"0x", 16},
                                       {"0X", 16},
                                       {"16#", 16},
                                       {"8#", 8},
                                       {"2#", 2}}) {
        if (digits.starts_with(prefix)) {
            digits.remove_prefix(prefix.size());
            return base;
        }
    }
    return 10;
}

json whole_of(std::string_view text, std::string_view type) {
    std::string_view digits = text;
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) {
        digits.remove_prefix(1);
    }
    const int base = base_of(digits);
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, number, base);
    constexpr auto lowest = std::uint64_t{1} << 63U;
    if (digits.empty() || error != std::errc{} || at != end || (negative && number > lowest)) {
        throw refused(text, type, "a whole number, e.g. 42, -1 or 16#1F");
    }
    // Negating in unsigned arithmetic also gives the lowest number there is.
    const auto value = static_cast<std::int64_t>(negative ? ~number + 1 : number);
    if (is_one_of(type, long_types)) {
        return negative ? std::to_string(value) : std::to_string(number);
    }
    return negative ? json(value) : json(number);
}

json real_of(std::string_view text, std::string_view type) {
    constexpr std::array<std::string_view, 3> special = {"NaN", "Infinity", "-Infinity"};
    if (is_one_of(text, special)) {
        return std::string{text};
    }
    double number = 0;
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    const char* const end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, number);
    if (digits.empty() || error != std::errc{} || at != end || !std::isfinite(number)) {
        throw refused(text, type, "a number with a point, e.g. 12.5 or 1e-3");
    }
    return number;
}

json element_of(std::string_view text, std::string_view type) {
    const std::string_view name = type.substr(0, type.find('['));
    if (name == "BOOL") {
        return boolean_of(trimmed(text), type);
    }
    if (is_one_of(name, whole_types)) {
        return whole_of(trimmed(text), name);
    }
    if (name == "REAL" || name == "LREAL") {
        return real_of(trimmed(text), name);
    }
    return std::string{text};
}

json array_of(std::string_view text, std::string_view type, std::string_view element) {
    const std::string_view list = trimmed(text);
    json made = json::array();
    if (list.starts_with('[')) {
        const json parsed = json::parse(list, nullptr, false);
        if (!parsed.is_array()) {
            throw refused(text, type, "a JSON array, e.g. [1, 2, 3], or 1,2,3");
        }
        for (const json& each : parsed) {
            const std::string written = each.is_string() ? each.get<std::string>() : each.dump();
            made.push_back(element_of(written, element));
        }
        return made;
    }
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t comma = std::min(list.find(',', at), list.size());
        made.push_back(element_of(list.substr(at, comma - at), element));
        at = comma + 1;
    }
    return made;
}

}  // namespace

std::string value_text(const nlohmann::json& value) {
    if (value.is_null()) {
        return "-";
    }
    if (value.is_string()) {
        return printable(value.get<std::string>());
    }
    if (value.is_array()) {
        std::string made = "[";
        for (const json& each : value) {
            made += made.size() > 1 ? ", " : "";
            made += each.dump(-1, ' ', false, json::error_handler_t::replace);
        }
        return made + "]";
    }
    return value.dump();
}

nlohmann::json value_of_text(std::string_view text, std::string_view type) {
    constexpr std::string_view of = " OF ";
    const std::size_t at = type.find(of);
    if (type.starts_with("ARRAY") && at != std::string_view::npos) {
        return array_of(text, type, type.substr(at + of.size()));
    }
    return element_of(text, type);
}

}  // namespace tagferry::gateway::cli
