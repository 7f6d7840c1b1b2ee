#include "web/http/json_writer.hpp"

#include "web/http/plain_text.hpp"
#include "web/http/url.hpp"

#include <algorithm>
#include <array>
#include <cstring>

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

constexpr auto digit_pairs = [] {
    std::array<char, 200> pairs{};
    for (std::size_t i = 0; i < 100; ++i) {
        pairs[2 * i] = static_cast<char>('0' + i / 10);
        pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return pairs;
}();

// Below 100.
char* put_pair(char* at, std::uint32_t value) noexcept {
    std::memcpy(at, digit_pairs.data() + 2 * std::size_t{value}, 2);
    return at + 2;
}

// Below 1,000.
char* put_three(char* at, std::uint32_t value) noexcept {
    *at = static_cast<char>('0' + value / 100);
    return put_pair(at + 1, value % 100);
}

// Times that are shown mostly lie in the same second as the one before.
constexpr std::string_view whole_seconds_form = "\"0000-00-00T00:00:00";
struct shown_second {
    std::int64_t seconds = 0;
    std::array<char, whole_seconds_form.size()> text{};
};
[[gnu::tls_model("initial-exec")]] constinit thread_local shown_second last_shown{};

// `"YYYY-MM-DDThh:mm:ss` of seconds since 1970 within the years 0 to 9999.
void write_seconds(std::array<char, whole_seconds_form.size()>& text,
                   std::int64_t seconds) noexcept {
    constexpr std::int64_t seconds_of_day = 86'400;
    std::int64_t days = seconds / seconds_of_day;
    std::int64_t rest = seconds % seconds_of_day;
    if (rest < 0) {
        rest += seconds_of_day;
        --days;
    }
    const civil_date date = date_of(days);
    const auto of_day = static_cast<std::uint32_t>(rest);
    const auto year = static_cast<std::uint32_t>(date.year);
    std::memcpy(text.data(), whole_seconds_form.data(), text.size());
    char* at = put_pair(text.data() + 1, year / 100);
    at = put_pair(at, year % 100);
    at = put_pair(at + 1, date.month);
    at = put_pair(at + 1, date.day);
    at = put_pair(at + 1, of_day / 3600);
    at = put_pair(at + 1, of_day / 60 % 60);
    put_pair(at + 1, of_day % 60);
}

// Seconds as above, and nanoseconds below 1e9.
char* write_time(char* at, std::int64_t seconds, std::uint32_t nanoseconds) noexcept {
    shown_second& shown = last_shown;
    if (shown.seconds != seconds || shown.text.front() == '\0') {
        write_seconds(shown.text, seconds);
        shown.seconds = seconds;
    }
    std::memcpy(at, shown.text.data(), shown.text.size());
    at += shown.text.size();
    if (nanoseconds != 0) {
        const std::uint32_t microseconds = nanoseconds / 1'000;
        const std::uint32_t below = nanoseconds % 1'000;
        *at++ = '.';
        at = put_three(at, microseconds / 1'000);
        if (microseconds % 1'000 != 0 || below != 0) {
            at = put_three(at, microseconds % 1'000);
        }
        if (below != 0) {
            at = put_three(at, below);
        }
    }
    *at++ = 'Z';
    *at++ = '"';
    return at;
}

}  // namespace

std::size_t plain_json_size(std::string_view text) noexcept {
    constexpr std::size_t group = sizeof(std::uint64_t);
    const auto plain_at = [&](std::size_t at) {
        const std::uint64_t word = eight_characters(text.data() + at);
        return !has_control_or_foreign(word) && !has_character(word, '"') &&
               !has_character(word, '\\');
    };
    std::size_t size = 0;
    while (text.size() - size >= group && plain_at(size)) {
        size += group;
    }
    if (size != 0 && text.size() - size < group && plain_at(text.size() - group)) {
        return text.size();
    }
    while (size < text.size() && is_plain(static_cast<std::uint8_t>(text[size]))) {
        ++size;
    }
    return size;
}

void put_json_string(output_chain& out, std::string_view text) noexcept {
    out.put('"');
    while (!text.empty()) {
        const std::size_t plain_size = plain_json_size(text);
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

char* write_json_time(char* at, transport::wall_time_ns time) noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    std::int64_t seconds = time / second;
    std::int64_t rest = time % second;
    if (rest < 0) {
        rest += second;
        --seconds;
    }
    return write_time(at, seconds, static_cast<std::uint32_t>(rest));
}

void put_json_time(output_chain& out, transport::wall_time_ns time) noexcept {
    if (char* const begin = out.claim(longest_json_time)) {
        const char* const end = write_json_time(begin, time);
        out.unclaim(longest_json_time - static_cast<std::size_t>(end - begin));
    }
}

void put_json_time_or_null(output_chain& out, transport::wall_time_ns time) noexcept {
    if (time == 0) {
        out.put("null");
    } else {
        put_json_time(out, time);
    }
}

char* write_json_ticks(char* at, std::int64_t ticks) noexcept {
    constexpr std::int64_t ticks_of_second = 10'000'000;
    constexpr std::int64_t seconds_1601_to_1970 = 11'644'473'600;
    constexpr std::int64_t last_second = 253'402'300'799;  // 9999-12-31T23:59:59Z
    ticks = std::max<std::int64_t>(ticks, 0);
    const std::int64_t seconds = ticks / ticks_of_second - seconds_1601_to_1970;
    return seconds >= last_second
               ? write_time(at, last_second, 0)
               : write_time(at, seconds,
                            static_cast<std::uint32_t>(ticks % ticks_of_second) * 100U);
}

}  // namespace tagferry::web
