// tagferry status: how a gateway is, on one screen.
#include "gateway/cli/client_options.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/problem_words.hpp"
#include "gateway/cli/terminal.hpp"
#include "gateway/cli/value_rows.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

using nlohmann::ordered_json;

/// What a gateway says of itself.
struct whole_status {
    ordered_json version;
    std::vector<ordered_json> connections;
    std::vector<std::string> problems;
    std::uint64_t good = 0;
    std::uint64_t uncertain = 0;
    std::uint64_t bad = 0;
};

whole_status ask(gateway_client& client) {
    whole_status made;
    const http_answer answer = client.request("GET", "/api/v1/version");
    if (answer.status != 200) {
        throw fault_of(answer);
    }
    made.version = ordered_json::parse(answer.body);
    const http_answer ready = client.request("GET", "/readyz");
    if (ready.status != 200) {
        made.problems.push_back("the gateway does not serve: " +
                                std::string{fault_of(ready).what()});
    }
    for_each_item(client, "/api/v1/connections", [&](const ordered_json& link) {
        const ordered_json& tags = link.at("tags");
        made.good += tags.at("good").get<std::uint64_t>();
        made.uncertain += tags.at("uncertain").get<std::uint64_t>();
        made.bad += tags.at("bad").get<std::uint64_t>();
        if (std::string problem = problem_of(link); !problem.empty()) {
            made.problems.push_back(std::move(problem));
        }
        made.connections.push_back(link);
    });
    return made;
}

void print_json(const whole_status& status, const std::string& url, std::ostream& out) {
    ordered_json made;
    made["url"] = url;
    made["version"] = status.version.at("version");
    made["started"] = status.version.at("started");
    made["problems"] = status.problems;
    made["tags"] = {{"total", status.good + status.uncertain + status.bad},
                    {"good", status.good},
                    {"uncertain", status.uncertain},
                    {"bad", status.bad}};
    made["connections"] = status.connections;
    out << made.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void print_connections(const whole_status& status, const output_style& style, std::ostream& out) {
    /// The rest of a screen; the problems above are complete.
    constexpr std::size_t most_rows = 15;
    std::vector<table_row> table{{{"CONNECTION"},
                                  {"STATE"},
                                  {"GOOD"},
                                  {"UNCERTAIN"},
                                  {"BAD"},
                                  {"CONNECTS"},
                                  {"LATE SCANS"}}};
    const auto number = [](const ordered_json& from, const char* key) {
        return std::to_string(from.at(key).get<std::uint64_t>());
    };
    for (const ordered_json& link : status.connections) {
        if (table.size() > most_rows) {
            break;
        }
        const ordered_json& tags = link.at("tags");
        const bool up = link.at("up").get<bool>();
        table.push_back({{printable(link.at("name").get<std::string>())},
                         {link.at("state").get<std::string>(), up ? colour::green : colour::red},
                         {number(tags, "good")},
                         {number(tags, "uncertain")},
                         {number(tags, "bad")},
                         {number(link, "connects")},
                         {number(link, "overruns")}});
    }
    print_table(out, style, table);
    if (status.connections.size() > most_rows) {
        out << "… and " << status.connections.size() - most_rows
            << " more: `tagferry status --json`\n";
    }
}

void print_text(const whole_status& status, const std::string& url, std::ostream& out) {
    const output_style style = style_of(out);
    out << painted(style, colour::bold,
                   "Tagferry " + status.version.at("version").get<std::string>())
        << " at " << url;
    const double started = seconds_of(status.version.at("started"));
    if (started > 0) {
        out << ", up " << duration_words(now_seconds() - started);
    }
    out << "\n" << counted(status.connections.size(), "PLC") << ", ";
    if (status.problems.empty()) {
        out << painted(style, colour::green, "no problem") << "\n";
    } else {
        out << painted(style, colour::red, counted(status.problems.size(), "problem") + ":")
            << "\n";
    }
    for (const std::string& problem : status.problems) {
        out << "  " << problem << "\n";
    }
    out << fmt::format("{} tags: {} good, {} uncertain, {} bad\n\n",
                       status.good + status.uncertain + status.bad, status.good, status.uncertain,
                       status.bad);
    if (!status.connections.empty()) {
        print_connections(status, style, out);
    }
}

}  // namespace

void register_status(CLI::App& root, command_context& context) {
    auto given = std::make_shared<client_options>();
    CLI::App* command = root.add_subcommand("status", "Says how a gateway and its PLCs are");
    add_client_options(*command, *given);
    command->footer(
        "\nExit code 1: there are problems.\n"
        "\nExamples:\n"
        "  tagferry status\n"
        "  tagferry status --json | jq -r '.problems[]'\n");
    command->callback([given, &context] {
        run_client(context, [&] {
            gateway_client client(gateway_of(*given));
            const whole_status status = ask(client);
            if (given->json) {
                print_json(status, client.where().url(), context.out);
            } else {
                print_text(status, client.where().url(), context.out);
            }
            context.result = status.problems.empty() ? exit_code::success : exit_code::failure;
        });
    });
}

}  // namespace tagferry::gateway::cli
