#include "web/api/value_from_json.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tagferry::web {
namespace {

/// Where elements go, one after the other.
class slot_writer {
  public:
    explicit slot_writer(std::span<std::byte> into) noexcept : into_(into) {}

    template <typename T>
    conversion put(T value) noexcept {
        if (into_.size() - used_ < sizeof value) {
            return conversion::no_room;
        }
        std::memcpy(into_.data() + used_, &value, sizeof value);
        used_ += sizeof value;
        return conversion::done;
    }

    /// What is left, to be filled by the caller and taken with `take`.
    std::span<std::byte> rest() const noexcept { return into_.subspan(used_); }
    void take(std::size_t size) noexcept { used_ += size; }
    std::size_t used() const noexcept { return used_; }

  private:
    std::span<std::byte> into_;
    std::size_t used_ = 0;
};

/// Whether a number that no double can hold is too large, rather than too small.
bool is_large(std::string_view text) noexcept {
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    const std::size_t exponent_at = text.find_first_of("eE");
    int exponent = 0;
    if (exponent_at != std::string_view::npos) {
        std::string_view digits = text.substr(exponent_at + 1);
        digits.remove_prefix(digits.starts_with('+') ? 1 : 0);
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
        if (parsed.ec == std::errc::result_out_of_range) {
            return !digits.starts_with('-');
        }
    }
    const std::string_view mantissa = text.substr(0, exponent_at);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const std::size_t first = mantissa.find_first_of("123456789");
    if (first == std::string_view::npos) {
        return false;
    }
    // The decimal exponent of the first digit that is not nought.
    const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    return place + exponent > 0;
}

/// A number as written in JSON. Nothing: too large for the type; what is too small is 0.
std::optional<double> floating(std::string_view text) noexcept {
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec == std::errc::result_out_of_range) {
        return is_large(text) ? std::nullopt : std::optional(text.starts_with('-') ? -0.0 : 0.0);
    }
    return value;
}

template <typename T>
conversion put_integer(std::string_view text, slot_writer& to) noexcept {
    T value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec == std::errc{} && parsed.ptr == end) {
        return to.put(value);
    }
    if (text.find_first_of(".eE") == std::string_view::npos) {
        return conversion::out_of_range;
    }
    // Up to this size every whole number has a double of its own.
    constexpr double exact = 9'007'199'254'740'992.0;
    const auto number = floating(text);
    if (!number || std::fabs(*number) > exact) {
        return conversion::out_of_range;
    }
    if (std::trunc(*number) != *number) {
        return conversion::type_mismatch;
    }
    const auto whole = static_cast<std::int64_t>(*number);
    const bool negative = whole < 0;
    if constexpr (std::is_unsigned_v<T>) {
        if (negative || static_cast<std::uint64_t>(whole) > std::numeric_limits<T>::max()) {
            return conversion::out_of_range;
        }
    } else if (whole < std::numeric_limits<T>::min() || whole > std::numeric_limits<T>::max()) {
        return conversion::out_of_range;
    }
    return to.put(static_cast<T>(whole));
}

/// Whether a string holds a whole number and nothing else.
bool is_integer_text(std::string_view text) noexcept {
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    return text.size() > sign &&
           text.substr(sign).find_first_not_of("0123456789") == std::string_view::npos;
}

template <typename T>
conversion read_integer(json_token token, std::string_view text, slot_writer& to) noexcept {
    const bool as_text =
        sizeof(T) == sizeof(std::uint64_t) && token == json_token::string && is_integer_text(text);
    if (token != json_token::number && !as_text) {
        return conversion::type_mismatch;
    }
    return put_integer<T>(text, to);
}

template <typename T>
conversion read_float(json_token token, std::string_view text, slot_writer& to) noexcept {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    if (token == json_token::string) {
        if (text == "NaN") {
            return to.put(std::numeric_limits<T>::quiet_NaN());
        }
        if (text == "Infinity" || text == "-Infinity") {
            return to.put(text.starts_with('-') ? -infinity : infinity);
        }
        return conversion::type_mismatch;
    }
    if (token != json_token::number) {
        return conversion::type_mismatch;
    }
    const auto number = floating(text);
    if (!number || std::fabs(*number) > static_cast<double>(std::numeric_limits<T>::max())) {
        return conversion::out_of_range;
    }
    return to.put(static_cast<T>(*number));
}

conversion read_boolean(json_token token, slot_writer& to) noexcept {
    if (token != json_token::true_ && token != json_token::false_) {
        return conversion::type_mismatch;
    }
    return to.put(static_cast<std::uint8_t>(token == json_token::true_ ? 1 : 0));
}

conversion read_text(json_token token, std::string_view raw, std::uint16_t capacity,
                     slot_writer& to) noexcept {
    if (token != json_token::string) {
        return conversion::type_mismatch;
    }
    const std::span<std::byte> rest = to.rest();
    std::uint16_t size = 0;
    if (rest.size() < sizeof size) {
        return conversion::no_room;
    }
    const auto place = rest.subspan(sizeof size);
    const auto plain = json_unescape(raw, {reinterpret_cast<char*>(place.data()), place.size()});
    if (!plain) {
        return raw.size() > capacity ? conversion::too_long : conversion::no_room;
    }
    if (plain->size() > capacity) {
        return conversion::too_long;
    }
    size = static_cast<std::uint16_t>(plain->size());
    std::memcpy(rest.data(), &size, sizeof size);
    to.take(sizeof size + plain->size());
    return conversion::done;
}

/// Two or more digits at the front, which are taken off; nothing when they are not there.
std::optional<int> take_digits(std::string_view& text, std::size_t count) noexcept {
    int value = 0;
    if (text.size() < count) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (text[i] < '0' || text[i] > '9') {
            return std::nullopt;
        }
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take_mark(std::string_view& text, char mark) noexcept {
    const bool there = text.starts_with(mark);
    text.remove_prefix(there ? 1 : 0);
    return there;
}

/// Ticks of 100 ns below a second: a point and digits, of which seven count.
std::int64_t take_fraction(std::string_view& text) noexcept {
    std::int64_t ticks = 0;
    std::int64_t unit = 1'000'000;
    if (!take_mark(text, '.')) {
        return 0;
    }
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        ticks += unit * (text.front() - '0');
        unit /= 10;
        text.remove_prefix(1);
    }
    return ticks;
}

/// RFC 3339 in UTC, as `write_json_ticks` writes it.
conversion read_time(json_token token, std::string_view text, slot_writer& to) noexcept {
    if (token != json_token::string) {
        return conversion::type_mismatch;
    }
    const auto year = take_digits(text, 4);
    const bool first = take_mark(text, '-');
    const auto month = take_digits(text, 2);
    const bool second = take_mark(text, '-');
    const auto day = take_digits(text, 2);
    const bool middle = take_mark(text, 'T');
    const auto hour = take_digits(text, 2);
    const bool third = take_mark(text, ':');
    const auto minute = take_digits(text, 2);
    const bool fourth = take_mark(text, ':');
    const auto seconds = take_digits(text, 2);
    const std::int64_t fraction = take_fraction(text);
    if (!year || !month || !day || !hour || !minute || !seconds || !first || !second || !middle ||
        !third || !fourth || text != "Z") {
        return conversion::type_mismatch;
    }
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok() || *hour > 23 || *minute > 59 || *seconds > 59 || *year < 1601) {
        return conversion::out_of_range;
    }
    const std::chrono::sys_days epoch = std::chrono::year(1601) / 1 / 1;
    const std::int64_t days = (std::chrono::sys_days(date) - epoch).count();
    const std::int64_t whole = ((days * 24 + *hour) * 60 + *minute) * 60 + *seconds;
    return to.put(whole * 10'000'000 + fraction);
}

int base64_digit(char letter) noexcept {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t at = alphabet.find(letter);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// Base64 with padding (RFC 4648, 4).
conversion read_bytes(json_token token, std::string_view text, std::uint16_t capacity,
                      slot_writer& to) noexcept {
    if (token != json_token::string || text.size() % 4 != 0) {
        return conversion::type_mismatch;
    }
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    const std::size_t size = text.size() / 4 * 3 - padding;
    if (size > capacity) {
        return conversion::too_long;
    }
    const std::span<std::byte> rest = to.rest();
    if (rest.size() < sizeof(std::uint16_t) + size) {
        return conversion::no_room;
    }
    std::uint32_t bits = 0;
    std::size_t written = 0;
    const std::string_view digits = text.substr(0, text.size() - padding);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const int digit = base64_digit(digits[i]);
        if (digit < 0) {
            return conversion::type_mismatch;
        }
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        if (i % 4 != 0) {
            const auto shift = static_cast<unsigned>(6 - 2 * (i % 4));
            rest[sizeof(std::uint16_t) + written++] = static_cast<std::byte>(bits >> shift & 0xFFU);
        }
    }
    const auto count = static_cast<std::uint16_t>(size);
    std::memcpy(rest.data(), &count, sizeof count);
    to.take(sizeof count + size);
    return conversion::done;
}

conversion read_element(json_token token, std::string_view text, const value_shape& shape,
                        slot_writer& to) noexcept {
    switch (shape.type) {
        case value_type::boolean:
            return read_boolean(token, to);
        case value_type::int8:
            return read_integer<std::int8_t>(token, text, to);
        case value_type::uint8:
            return read_integer<std::uint8_t>(token, text, to);
        case value_type::int16:
            return read_integer<std::int16_t>(token, text, to);
        case value_type::uint16:
            return read_integer<std::uint16_t>(token, text, to);
        case value_type::int32:
            return read_integer<std::int32_t>(token, text, to);
        case value_type::uint32:
            return read_integer<std::uint32_t>(token, text, to);
        case value_type::int64:
            return read_integer<std::int64_t>(token, text, to);
        case value_type::uint64:
            return read_integer<std::uint64_t>(token, text, to);
        case value_type::float32:
            return read_float<float>(token, text, to);
        case value_type::float64:
            return read_float<double>(token, text, to);
        case value_type::string:
            return read_text(token, text, shape.capacity, to);
        case value_type::date_time:
            return read_time(token, text, to);
        case value_type::byte_string:
            return read_bytes(token, text, shape.capacity, to);
        case value_type::none:
            break;
    }
    return conversion::type_mismatch;
}

/// The elements up to the end of the array, which is read in any case.
conversion read_elements(json_reader& reader, const value_shape& shape, slot_writer& to) noexcept {
    conversion worst = conversion::done;
    std::int32_t count = 0;
    for (json_token token = reader.next(); token != json_token::end_array; token = reader.next()) {
        if (token == json_token::error) {
            return conversion::malformed;
        }
        const std::string_view text = reader.text();
        if (worst == conversion::done) {
            worst = count == shape.array_length ? conversion::too_long
                                                : read_element(token, text, shape, to);
        }
        count += count < shape.array_length ? 1 : 0;
        if (!reader.skip(token)) {
            return conversion::malformed;
        }
    }
    if (worst == conversion::done && count != shape.array_length) {
        worst = conversion::type_mismatch;
    }
    return worst;
}

}  // namespace

conversion read_json_value(json_reader& reader, json_token first, const value_shape& shape,
                           std::span<std::byte> into, std::size_t& used) noexcept {
    slot_writer to(into);
    conversion how = conversion::type_mismatch;
    if (shape.array_length >= 0 && first == json_token::begin_array) {
        how = read_elements(reader, shape, to);
    } else {
        const std::string_view text = reader.text();
        if (shape.array_length < 0 && first != json_token::begin_array &&
            first != json_token::begin_object) {
            how = read_element(first, text, shape, to);
        }
        if (!reader.skip(first)) {
            how = conversion::malformed;
        }
    }
    used = to.used();
    return how;
}

}  // namespace tagferry::web
