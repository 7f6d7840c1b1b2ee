#include "gateway/simulation/fault_text.hpp"

#include "gateway/app/process.hpp"
#include "gateway/config/suggestion.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <vector>

namespace tagferry::gateway {

namespace {

using config::quoted;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::array<std::string_view, 7> settings = {"start", "length", "period", "every",
                                                      "code",  "block",  "delay"};

std::optional<transport::duration> duration_of(std::string_view text) {
    if (text == "0") {
        return transport::duration::zero();
    }
    const auto read = parse_duration(std::string(text));
    return read ? std::optional<transport::duration>(*read) : std::nullopt;
}

/// Decimal, or hexadecimal behind 0x.
template <class T>
std::optional<T> number_of(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x");
    text.remove_prefix(hexadecimal ? 2 : 0);
    T value{};
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty()
               ? std::optional(value)
               : std::nullopt;
}

template <class T>
bool put(std::optional<T> value, T& into) {
    into = value.value_or(into);
    return value.has_value();
}

/// False when the value is none for this setting; `expected` says what it should be.
bool set(s7::scripted_fault& fault, std::string_view name, std::string_view value,
         std::string_view& expected) {
    expected = "a whole number";
    if (name == "every") {
        return put(number_of<std::uint32_t>(value), fault.every) && fault.every > 0;
    }
    if (name == "code") {
        return put(number_of<std::uint16_t>(value), fault.code);
    }
    if (name == "block") {
        return put(number_of<std::uint16_t>(value), fault.block);
    }
    expected = "0, or a time such as 500ms or 5s";
    const auto time = duration_of(value);
    if (name == "start") {
        return put(time, fault.start);
    }
    if (name == "length") {
        return put(time, fault.length);
    }
    return name == "period" ? put(time, fault.period) : put(time, fault.delay);
}

std::string set_all(s7::scripted_fault& fault, std::string_view list) {
    while (!list.empty()) {
        const std::string_view one = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), one.size() + 1));
        const std::string_view name = one.substr(0, one.find('='));
        if (std::find(settings.begin(), settings.end(), name) == settings.end()) {
            return "a fault has no setting " + quoted(name) + " (" +
                   config::suggestion(name, settings) + ")";
        }
        const std::string_view value = one.substr(std::min(one.size(), name.size() + 1));
        std::string_view expected;
        if (!set(fault, name, value, expected)) {
            return std::string(name) + "=" + std::string(value) + ": expected " +
                   std::string(expected);
        }
    }
    return {};
}

std::string in_words(transport::duration time) {
    const auto whole = duration_cast<milliseconds>(time);
    return whole == time
               ? std::to_string(whole.count()) + "ms"
               : std::to_string(duration_cast<std::chrono::microseconds>(time).count()) + "us";
}

/// Only what is not the same as if it were left out.
std::string usual_settings(const s7::scripted_fault& fault) {
    std::string text;
    const auto add = [&](std::string_view name, const std::string& value) {
        text += (text.empty() ? "" : ",") + std::string(name) + "=" + value;
    };
    const auto add_time = [&](std::string_view name, transport::duration time) {
        if (time != transport::duration::zero()) {
            add(name, in_words(time));
        }
    };
    add_time("start", fault.start);
    add_time("length", fault.length);
    add_time("period", fault.period);
    if (fault.every > 1) {
        add("every", std::to_string(fault.every));
    }
    if (fault.code != 0) {
        std::array<char, 8> digits{};
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), fault.code, 16).ptr;
        add("code", "0x" + std::string(digits.data(), end));
    }
    add_time("delay", fault.delay);
    return text;
}

}  // namespace

std::string check_fault(const s7::scripted_fault& fault) {
    const auto none = transport::duration::zero();
    if (fault.period > none && fault.length == none) {
        return "a fault with a period needs a length";
    }
    if (fault.period > none && fault.length > fault.period) {
        return "a fault cannot be longer than its period";
    }
    if (fault.kind == s7::fault_kind::item_error &&
        (fault.code > std::numeric_limits<std::uint8_t>::max() ||
         static_cast<s7::item_code>(fault.code) == s7::item_code::success)) {
        return "the code of an item is from 0x00 to 0xFE";
    }
    if (fault.kind == s7::fault_kind::job_error && fault.code == 0) {
        return "the code of a job is from 0x0001 to 0xFFFF";
    }
    return {};
}

s7::scripted_fault parse_fault_text(std::string_view text, std::string& error) {
    const std::string_view name = text.substr(0, text.find(':'));
    const s7::fault_description* const known = s7::find_fault(name);
    if (known == nullptr) {
        std::vector<std::string_view> names;
        for (const auto& each : s7::fault_catalogue()) {
            names.push_back(each.name);
        }
        const std::string hint(config::nearest(name, names));
        error = "there is no fault " + quoted(name) +
                (hint.empty() ? " (--help lists them)" : " (did you mean " + quoted(hint) + "?)");
        return {};
    }
    s7::scripted_fault fault = known->usual;
    error = set_all(fault, text.substr(std::min(text.size(), name.size() + 1)));
    if (error.empty()) {
        error = check_fault(fault);
    }
    return fault;
}

std::string fault_help() {
    std::string text;
    for (const auto& each : s7::fault_catalogue()) {
        text += "  " + std::string(each.name) + ": " + std::string(each.words) + "\n";
        const std::string usual = usual_settings(each.usual);
        text += usual.empty() ? "" : "      " + usual + "\n";
    }
    return text;
}

}  // namespace tagferry::gateway
