// tagferry watch: values as they change.
#include "gateway/app/process.hpp"
#include "gateway/cli/client_options.hpp"
#include "gateway/cli/client_session.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/live_values.hpp"
#include "gateway/cli/serving_options.hpp"
#include "gateway/cli/terminal.hpp"
#include "gateway/cli/value_rows.hpp"
#include "gateway/cli/value_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <memory>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct options {
    client_options client;
    std::vector<std::string> tags;
    std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
    std::optional<milliseconds> duration;
    milliseconds min_interval{100};
};

/// RFC 3339 in UTC, null for none.
nlohmann::ordered_json rfc_3339(std::int64_t since_1970_ms) {
    if (since_1970_ms == 0) {
        return nullptr;
    }
    const auto seconds = static_cast<std::time_t>(since_1970_ms / 1000);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                       utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                       since_1970_ms % 1000);
}

class printer {
  public:
    printer(const options& given, std::ostream& out)
        : json_(given.client.json), left_(given.count), out_(out), style_(style_of(out)) {}

    void print(const live_value& value) {
        if (left_ == 0) {
            return;
        }
        --left_;
        if (style_.terminal && !json_) {
            line_for_people(value);
            return;
        }
        nlohmann::ordered_json row;
        row["path"] = value.path;
        row["value"] = value.value;
        row["status"] = value.status;
        row["reason"] = value.reason.empty() ? nlohmann::ordered_json(nullptr)
                                             : nlohmann::ordered_json(value.reason);
        row["source_timestamp"] = rfc_3339(value.source_timestamp_ms);
        if (json_) {
            out_ << row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
        } else {
            print_value_line(out_, row);
        }
    }

    bool finished() const { return left_ == 0; }

  private:
    void line_for_people(const live_value& value) {
        const std::string path = printable(value.path);
        widest_ = std::max(widest_, columns_of(path));
        const colour how = colour_of_status(value.status);
        std::string shown = value_text(value.value);
        if (!value.unit.empty() && !value.value.is_null()) {
            shown += " " + printable(value.unit);
        }
        out_ << painted(style_, colour::dim, clock_time(rfc_3339(value.source_timestamp_ms)))
             << "  " << path << std::string(widest_ + 2 - columns_of(path), ' ')
             << painted(style_, how, shown);
        if (how != colour::green) {
            out_ << "  " << painted(style_, how, value.status) << "  " << value.reason;
        }
        out_ << "\n";
    }

    bool json_;
    std::uint64_t left_;
    std::size_t widest_ = 0;
    std::ostream& out_;
    output_style style_;
};

/// Keeps the stream until an end is reached.
class watcher {
  public:
    watcher(const options& given, command_context& context)
        : given_(given),
          context_(context),
          end_(steady_clock::now() + given.duration.value_or(std::chrono::hours(24 * 365 * 100))),
          session_(given.client, given.tags),
          client_(session_.client()),
          printer_(given, context.out),
          live_(client_, {session_.tags(), static_cast<int>(given.min_interval.count())},
                [this](const live_value& value) { printer_.print(value); }) {}

    exit_code run() {
        client_.catch_signals();
        live_.open();
        while (!printer_.finished()) {
            const milliseconds left = time_left();
            if (left <= milliseconds::zero()) {
                const bool all = given_.count == std::numeric_limits<std::uint64_t>::max();
                return all ? exit_code::success : exit_code::temporary;
            }
            switch (live_.next(left)) {
                case live_event::interrupted:
                    return exit_code::success;
                case live_event::no_tags:
                    throw client_fault(exit_code::bad_data,
                                       "no tag matches; `tagferry read '**'` shows all");
                case live_event::lost:
                    if (!reconnect()) {
                        return exit_code::success;
                    }
                    break;
                case live_event::handled:
                case live_event::time_passed:
                    break;
            }
            context_.out.flush();
        }
        return exit_code::success;
    }

  private:
    milliseconds time_left() const {
        return std::chrono::duration_cast<milliseconds>(end_ - steady_clock::now());
    }

    // False when a signal or the end of the time came first.
    bool reconnect() {
        context_.err << "tagferry: the stream ended (" << client_.close_reason()
                     << "); connecting again\n";
        milliseconds pause(250);
        for (;;) {
            std::string nothing;
            const milliseconds longest = std::min(pause, time_left());
            if (longest <= milliseconds::zero() ||
                client_.wait(longest, nothing) == gateway_client::waited::interrupted) {
                return time_left() <= milliseconds::zero();
            }
            pause = std::min(2 * pause, milliseconds(5'000));
            try {
                live_.open();
                context_.err << "tagferry: connected again\n";
                return true;
            } catch (const client_fault& fault) {
                if (fault.code() != exit_code::unavailable) {
                    throw;
                }
            }
        }
    }

    const options& given_;
    command_context& context_;
    steady_clock::time_point end_;
    client_session session_;
    gateway_client& client_;
    printer printer_;
    live_values live_;
};

}  // namespace

void register_watch(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("watch", "Prints values of tags as they change");
    command
        ->add_option("tags", given->tags,
                     "Paths, or patterns: * within a part of a path, ** for any, ? for one")
        ->type_name("TAG")
        ->required();
    command->add_option("--count", given->count, "End after so many values")->type_name("N");
    add_duration_option(*command, given->duration);
    command
        ->add_option_function<std::string>(
            "--min-interval",
            [given](const std::string& text) {
                const auto read = parse_duration(text);
                if (!read || *read < milliseconds(50) || *read > std::chrono::hours(1)) {
                    throw CLI::ValidationError("--min-interval",
                                               "\"" + text + "\" is not from 50ms to 1h");
                }
                given->min_interval = *read;
                given->client.direct.interval = *read;
            },
            "At most one value of a tag in this time. Default: 100ms")
        ->type_name("TIME");
    add_client_options(*command, given->client);
    add_direct_options(*command, given->client);
    command->footer(
        "\nUntil Ctrl-C. A lost gateway is looked for again and again. Exit code 75: the time was\n"
        "over before --count values had come.\n"
        "\nExamples:\n"
        "  tagferry watch 'press/tank/*'\n"
        "  tagferry watch '**' --min-interval 1s --json | jq -r .path\n");
    command->callback([given, &context] {
        run_client(context, [&] { context.result = watcher(*given, context).run(); });
    });
}

}  // namespace tagferry::gateway::cli
