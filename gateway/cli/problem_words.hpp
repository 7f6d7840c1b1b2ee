// What is wrong with a connection, in words.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>

namespace tagferry::gateway::cli {

/// Seconds since 1970.
double now_seconds();

/// `1 tag`, `2 tags`.
std::string counted(std::size_t number, const std::string& thing);

/// Why a row of `/api/v1/connections` needs somebody to look; empty when it does not.
std::string problem_of(const nlohmann::ordered_json& link);

}  // namespace tagferry::gateway::cli
