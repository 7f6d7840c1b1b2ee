#include "gateway/cli/problem_words.hpp"

#include "gateway/cli/terminal.hpp"
#include "gateway/cli/value_rows.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>

namespace tagferry::gateway::cli {

using nlohmann::ordered_json;

double now_seconds() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

std::string counted(std::size_t number, const std::string& thing) {
    return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

std::string problem_of(const ordered_json& link) {
    const std::string name = printable(link.at("name").get<std::string>());
    const ordered_json& tags = link.at("tags");
    if (link.at("up").get<bool>()) {
        const auto bad = tags.at("bad").get<std::uint64_t>();
        return bad == 0 ? std::string{}
                        : name + " is connected, but " + counted(bad, "tag") + " of " +
                              std::to_string(tags.at("total").get<std::uint64_t>()) +
                              (bad == 1 ? " is" : " are") + " Bad: `tagferry read '" + name +
                              "/**'` says why";
    }
    std::string words = name + " (" + printable(link.at("endpoint").get<std::string>()) + ") ";
    const double since = seconds_of(link.at("since"));
    words += since > 0 ? "is down for " + duration_words(now_seconds() - since) : "is down";
    if (link.at("reason").is_string()) {
        words += ": " + printable(link.at("reason").get<std::string>());
    }
    const double next = seconds_of(link.at("next_attempt"));
    if (next > now_seconds()) {
        words += ". Next attempt in " + duration_words(next - now_seconds());
    }
    return words;
}

}  // namespace tagferry::gateway::cli
