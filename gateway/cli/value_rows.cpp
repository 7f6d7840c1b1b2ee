#include "gateway/cli/value_rows.hpp"

#include "gateway/cli/client_options.hpp"
#include "gateway/cli/value_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

using nlohmann::ordered_json;

/// As many as one request may name (limits.tags_per_request, 128 unless set lower).
constexpr std::size_t tags_per_request = 64;

std::string with(const std::string& query, const std::string& max_age) {
    return max_age.empty() ? query : query + "&max_age=" + url_encoded(max_age, false);
}

ordered_json get(gateway_client& client, const std::string& target) {
    const http_answer answer = client.request("GET", target);
    if (answer.status != 200) {
        throw fault_of(answer);
    }
    return ordered_json::parse(answer.body);
}

std::string text_or_dash(const ordered_json& row, const char* key) {
    const auto found = row.find(key);
    return found == row.end() || !found->is_string() ? "-" : printable(found->get<std::string>());
}

/// The rows of tags by name, so many in one request as it may hold.
void append_named(gateway_client& client, const std::vector<std::string>& paths,
                  const std::string& max_age, std::vector<ordered_json>& rows) {
    for (std::size_t at = 0; at < paths.size();) {
        std::string query = "/api/v1/values?";
        for (std::size_t count = 0; at < paths.size() && count < tags_per_request; ++at, ++count) {
            query += (count == 0 ? "tag=" : "&tag=") + url_encoded(paths[at], false);
        }
        const ordered_json answer = get(client, with(query, max_age));
        for (const ordered_json& row : answer.at("items")) {
            rows.push_back(row);
        }
    }
}

table_row row_of(const ordered_json& row) {
    const std::string status = row.at("status").get<std::string>();
    const colour how = colour_of_status(status);
    std::string reason = text_or_dash(row, "reason");
    if (const auto last = row.find("last_good"); last != row.end() && last->is_object()) {
        reason += " (last good: " + value_text(last->at("value")) + " at " +
                  clock_time(last->at("source_timestamp")) + ")";
    }
    return {{printable(row.at("path").get<std::string>())},
            {value_text(row.at("value"))},
            {status, how},
            {clock_time(row.at("source_timestamp")), colour::dim},
            {reason == "-" ? "" : reason, how == colour::green ? colour::plain : how}};
}

}  // namespace

bool is_pattern(std::string_view tag) noexcept {
    return tag.find_first_of("*?") != std::string_view::npos;
}

void for_each_item(gateway_client& client, const std::string& target,
                   const std::function<void(const ordered_json&)>& take) {
    std::string cursor;
    do {
        std::string page = target + (target.find('?') == std::string::npos ? "?" : "&");
        page += "limit=1000";
        if (!cursor.empty()) {
            page += "&cursor=" + url_encoded(cursor, false);
        }
        const ordered_json answer = get(client, page);
        for (const ordered_json& item : answer.at("items")) {
            take(item);
        }
        const ordered_json& next = answer.at("next");
        cursor = next.is_null() ? "" : next.is_string() ? next.get<std::string>() : next.dump();
    } while (!cursor.empty());
}

std::vector<ordered_json> read_rows(gateway_client& client, const std::vector<std::string>& tags,
                                    const std::string& max_age) {
    std::vector<ordered_json> rows;
    std::vector<std::string> named;
    for (const std::string& tag : tags) {
        if (!is_pattern(tag)) {
            named.push_back(tag);
            continue;
        }
        const std::string query = "/api/v1/values?filter=" + url_encoded(tag, false);
        if (max_age.empty()) {
            append_named(client, named, max_age, rows);
            named.clear();
            for_each_item(client, query, [&](const ordered_json& row) { rows.push_back(row); });
        } else {
            // The PLC is asked for tags by their names only.
            for_each_item(client, query, [&](const ordered_json& row) {
                named.push_back(row.at("path").get<std::string>());
            });
        }
    }
    append_named(client, named, max_age, rows);
    return rows;
}

void print_value_line(std::ostream& out, const ordered_json& row) {
    out << printable(row.at("path").get<std::string>()) << '\t' << value_text(row.at("value"))
        << '\t' << text_or_dash(row, "status") << '\t' << text_or_dash(row, "source_timestamp")
        << '\t' << text_or_dash(row, "reason") << '\n';
}

void print_value_table(std::ostream& out, const output_style& style,
                       const std::vector<ordered_json>& rows) {
    std::vector<table_row> table{{{"TAG"}, {"VALUE"}, {"STATUS"}, {"TIME"}, {""}}};
    for (const ordered_json& row : rows) {
        table.push_back(row_of(row));
    }
    print_table(out, style, table);
}

double seconds_of(const ordered_json& rfc_3339) {
    if (!rfc_3339.is_string()) {
        return 0;
    }
    const std::string text = rfc_3339.get<std::string>();
    std::tm time{};
    double seconds = 0;
    if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%lfZ", &time.tm_year, &time.tm_mon, &time.tm_mday,
                    &time.tm_hour, &time.tm_min, &seconds) != 6) {
        return 0;
    }
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    return static_cast<double>(timegm(&time)) + seconds;
}

std::string clock_time(const ordered_json& rfc_3339) {
    const double seconds = seconds_of(rfc_3339);
    if (seconds <= 0) {
        return "-";
    }
    const auto whole = static_cast<std::time_t>(seconds);
    std::tm local{};
    localtime_r(&whole, &local);
    const auto milliseconds = static_cast<int>((seconds - std::floor(seconds)) * 1000);
    return fmt::format("{:02}:{:02}:{:02}.{:03}", local.tm_hour, local.tm_min, local.tm_sec,
                       milliseconds);
}

std::string duration_words(double seconds) {
    const double positive = std::max(seconds, 0.0);
    if (positive < 120) {
        return fmt::format("{:.0f} s", positive);
    }
    if (positive < 7'200) {
        return fmt::format("{:.0f} min", positive / 60);
    }
    return positive < 172'800 ? fmt::format("{:.0f} h", positive / 3'600)
                              : fmt::format("{:.0f} d", positive / 86'400);
}

}  // namespace tagferry::gateway::cli
