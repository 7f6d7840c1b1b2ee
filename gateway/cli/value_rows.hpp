// Value rows as REST answers them: asked for, and printed.
#pragma once

#include "gateway/cli/gateway_client.hpp"
#include "gateway/cli/terminal.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace tagferry::gateway::cli {

/// Whether an argument stands for many tags.
bool is_pattern(std::string_view tag) noexcept;

/// Asks for all items of a list, page by page. @param target path and query without `limit` and
/// `cursor`. Throws client_fault.
void for_each_item(gateway_client& client, const std::string& target,
                   const std::function<void(const nlohmann::ordered_json&)>& take);

/// The value rows of paths and patterns, in the order asked for; a row that two patterns match
/// comes twice. @param max_age as REST takes it; empty: whatever the gateway has.
/// Throws client_fault.
std::vector<nlohmann::ordered_json> read_rows(gateway_client& client,
                                              const std::vector<std::string>& tags,
                                              const std::string& max_age);

/// One line a row, for other programs: path, value, status, source timestamp and reason with tabs
/// between them, `-` for what there is not.
void print_value_line(std::ostream& out, const nlohmann::ordered_json& row);

/// A table for people, with the last good value of what is not Good.
void print_value_table(std::ostream& out, const output_style& style,
                       const std::vector<nlohmann::ordered_json>& rows);

/// `14:02:11.250` of an RFC 3339 time, in this machine's time zone; `-` for anything else.
std::string clock_time(const nlohmann::ordered_json& rfc_3339);

/// Seconds since 1970 of an RFC 3339 time in UTC; 0 for anything else.
double seconds_of(const nlohmann::ordered_json& rfc_3339);

/// `4 s`, `12 min`, `3 h` or `5 d`.
std::string duration_words(double seconds);

}  // namespace tagferry::gateway::cli
