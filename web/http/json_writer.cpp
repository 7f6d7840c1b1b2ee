#include "web/http/json_writer.hpp"

#include "web/http/url.hpp"

#include <algorithm>
#include <array>

namespace tagferry::web {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// Whether the byte stands for itself inside a JSON string.
constexpr bool is_plain(std::uint8_t byte) noexcept {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

void put_escape(output_chain& out, char byte) noexcept {
    switch (byte) {
        case '"':
            return out.put("\\\"");
        case '\\':
            return out.put("\\\\");
        case '\n':
            return out.put("\\n");
        case '\r':
            return out.put("\\r");
        case '\t':
            return out.put("\\t");
        default: {
            const auto code = static_cast<std::uint8_t>(byte);
            const std::array<char, 6> escape = {
                '\\', 'u', '0', '0', hex_digits[code >> 4U], hex_digits[code & 0x0FU]};
            return out.put(std::string_view(escape.data(), escape.size()));
        }
    }
}

struct civil_date {
    std::int64_t year;
    unsigned month;
    unsigned day;
};

// The Gregorian date `days` after 1970-01-01, by eras of 400 years that begin in March, so that
// the leap day is the last of its year.
civil_date date_of(std::int64_t days) noexcept {
    constexpr std::int64_t days_of_era = 146'097;
    constexpr std::int64_t from_march_of_year_0 = 719'468;
    days += from_march_of_year_0;
    const std::int64_t era = (days >= 0 ? days : days - days_of_era + 1) / days_of_era;
    const auto day_of_era = static_cast<unsigned>(days - era * days_of_era);
    const unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const unsigned day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const unsigned month_from_march = (5 * day_of_year + 2) / 153;
    const unsigned month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    const std::int64_t year = static_cast<std::int64_t>(year_of_era) + era * 400;
    return {month <= 2 ? year + 1 : year, month,
            day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

char* put_digits(char* at, std::uint64_t value, unsigned count) noexcept {
    for (unsigned i = count; i-- > 0; value /= 10) {
        at[i] = static_cast<char>('0' + value % 10);
    }
    return at + count;
}

// Seconds since 1970 within the years 0 to 9999, and nanoseconds below 1e9.
void put_time(output_chain& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept {
    constexpr std::size_t longest = 40;
    constexpr std::int64_t seconds_of_day = 86'400;
    char* const begin = out.claim(longest);
    if (begin == nullptr) {
        return;
    }
    std::int64_t days = seconds / seconds_of_day;
    std::int64_t rest = seconds % seconds_of_day;
    if (rest < 0) {
        rest += seconds_of_day;
        --days;
    }
    const civil_date date = date_of(days);
    const auto of_day = static_cast<std::uint64_t>(rest);
    char* at = begin;
    *at++ = '"';
    at = put_digits(at, static_cast<std::uint64_t>(date.year), 4);
    *at++ = '-';
    at = put_digits(at, date.month, 2);
    *at++ = '-';
    at = put_digits(at, date.day, 2);
    *at++ = 'T';
    at = put_digits(at, of_day / 3600, 2);
    *at++ = ':';
    at = put_digits(at, of_day / 60 % 60, 2);
    *at++ = ':';
    at = put_digits(at, of_day % 60, 2);
    if (nanoseconds != 0) {
        *at++ = '.';
        if (nanoseconds % 1'000'000 == 0) {
            at = put_digits(at, nanoseconds / 1'000'000, 3);
        } else if (nanoseconds % 1'000 == 0) {
            at = put_digits(at, nanoseconds / 1'000, 6);
        } else {
            at = put_digits(at, nanoseconds, 9);
        }
    }
    *at++ = 'Z';
    *at++ = '"';
    out.unclaim(longest - static_cast<std::size_t>(at - begin));
}

}  // namespace

void put_json_string(output_chain& out, std::string_view text) noexcept {
    out.put('"');
    while (!text.empty()) {
        const auto* const plain_end = std::find_if_not(text.begin(), text.end(), [](char byte) {
            return is_plain(static_cast<std::uint8_t>(byte));
        });
        const auto plain_size = static_cast<std::size_t>(plain_end - text.begin());
        out.put(text.substr(0, plain_size));
        text.remove_prefix(plain_size);
        if (text.empty()) {
            break;
        }
        if (static_cast<std::uint8_t>(text.front()) < 0x80) {
            put_escape(out, text.front());
            text.remove_prefix(1);
            continue;
        }
        const std::size_t size = utf8_character_size(text);
        out.put(size == 0 ? replacement_character : text.substr(0, size));
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    out.put('"');
}

void put_json_string_or_null(output_chain& out, std::string_view text) noexcept {
    if (text.empty()) {
        out.put("null");
    } else {
        put_json_string(out, text);
    }
}

void put_json_base64(output_chain& out, std::span<const std::byte> bytes) noexcept {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.put('"');
    while (!bytes.empty()) {
        const std::size_t count = std::min<std::size_t>(bytes.size(), 3);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8U | (i < count ? std::to_integer<std::uint32_t>(bytes[i]) : 0U);
        }
        const std::array<char, 4> text = {alphabet[group >> 18U], alphabet[group >> 12U & 63U],
                                          count > 1 ? alphabet[group >> 6U & 63U] : '=',
                                          count > 2 ? alphabet[group & 63U] : '='};
        out.put(std::string_view(text.data(), text.size()));
        bytes = bytes.subspan(count);
    }
    out.put('"');
}

void put_json_time(output_chain& out, transport::wall_time_ns time) noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    std::int64_t seconds = time / second;
    std::int64_t rest = time % second;
    if (rest < 0) {
        rest += second;
        --seconds;
    }
    put_time(out, seconds, static_cast<std::uint32_t>(rest));
}

void put_json_time_or_null(output_chain& out, transport::wall_time_ns time) noexcept {
    if (time == 0) {
        out.put("null");
    } else {
        put_json_time(out, time);
    }
}

void put_json_ticks(output_chain& out, std::int64_t ticks) noexcept {
    constexpr std::int64_t ticks_of_second = 10'000'000;
    constexpr std::int64_t seconds_1601_to_1970 = 11'644'473'600;
    constexpr std::int64_t last_second = 253'402'300'799;  // 9999-12-31T23:59:59Z
    ticks = std::max<std::int64_t>(ticks, 0);
    const std::int64_t seconds = ticks / ticks_of_second - seconds_1601_to_1970;
    if (seconds >= last_second) {
        put_time(out, last_second, 0);
        return;
    }
    put_time(out, seconds, static_cast<std::uint32_t>(ticks % ticks_of_second) * 100U);
}

}  // namespace tagferry::web
