#include "gateway/cli/demo_table.hpp"

#include "gateway/cli/problem_words.hpp"
#include "gateway/cli/value_rows.hpp"
#include "gateway/cli/value_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <sstream>

namespace tagferry::gateway::cli {

namespace {

using nlohmann::ordered_json;

const std::vector<std::string> shown_tags = {
    "press/tank/level",  "press/ram/position",    "press/ram/force",  "press/recipe/setpoint",
    "press/recipe/name", "boiler/steam/pressure", "boiler/burner/on", "boiler/alarms/last",
};

constexpr std::chrono::milliseconds redraw_interval{500};

/// Value and, while it is not Good, what was last good and how long ago.
std::string value_cell(const ordered_json& row) {
    const auto last = row.find("last_good");
    if (!row.at("value").is_null() || last == row.end() || !last->is_object()) {
        const ordered_json& value = row.at("value");
        // Digits that no instrument has would only flicker.
        return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>())
                                       : value_text(value);
    }
    const double age = now_seconds() - seconds_of(last->at("source_timestamp"));
    return "- (" + value_text(last->at("value")) + " " + duration_words(age) + " ago)";
}

}  // namespace

demo_table::demo_table(const gateway_address& where, const output_style& style, std::ostream& out)
    : client_(where), style_(style), out_(out), thread_([this] { run(); }) {}

demo_table::~demo_table() {
    {
        const std::lock_guard lock(mutex_);
        end_ = true;
    }
    ended_.notify_all();
    thread_.join();
}

void demo_table::run() {
    std::unique_lock lock(mutex_);
    // The first values are there by then.
    ended_.wait_for(lock, redraw_interval, [this] { return end_; });
    while (!end_) {
        lock.unlock();
        const std::string text = drawing();
        if (style_.colour && lines_ != 0) {
            // Back to the table's first line, and everything below it cleared.
            out_ << "\033[" << lines_ << "A\033[J";
        }
        if (style_.colour || lines_ == 0) {
            out_ << text << std::flush;
            lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        }
        lock.lock();
        ended_.wait_for(lock, redraw_interval, [this] { return end_; });
    }
}

std::string demo_table::drawing() {
    std::ostringstream text;
    try {
        std::vector<table_row> table{{{"TAG"}, {"VALUE"}, {"STATUS"}}};
        for (const ordered_json& row : read_rows(client_, shown_tags, {})) {
            const std::string status = row.at("status").get<std::string>();
            table.push_back({{row.at("path").get<std::string>()},
                             {value_cell(row)},
                             {status, colour_of_status(status)}});
        }
        print_table(text, style_, table);
        std::string problems;
        for_each_item(client_, "/api/v1/connections", [&](const ordered_json& link) {
            if (const std::string problem = problem_of(link); !problem.empty()) {
                problems += painted(style_, colour::red, problem) + "\n";
            }
        });
        text << (problems.empty()
                     ? painted(style_, colour::green, "Both PLCs are connected.") + "\n"
                     : problems);
    } catch (const std::exception& fault) {
        text << fault.what() << "\n";
    }
    return text.str();
}

}  // namespace tagferry::gateway::cli
