// tagferry read: values, once.
#include "gateway/cli/client_options.hpp"
#include "gateway/cli/client_session.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/value_rows.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

struct options {
    client_options client;
    std::vector<std::string> tags;
    std::string max_age;
};

void print(const std::vector<nlohmann::ordered_json>& rows, bool json, std::ostream& out) {
    if (json) {
        const nlohmann::ordered_json whole = {{"items", rows}};
        out << whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
        return;
    }
    const output_style style = style_of(out);
    if (style.terminal) {
        print_value_table(out, style, rows);
        return;
    }
    for (const auto& row : rows) {
        print_value_line(out, row);
    }
}

void run(const options& given, command_context& context) {
    run_client(context, [&] {
        client_session session(given.client, given.tags);
        const auto rows = read_rows(session.client(), session.tags(), given.max_age);
        print(rows, given.client.json, context.out);
        context.out.flush();
        std::size_t good = 0;
        for (const auto& row : rows) {
            const std::string status = row.at("status").get<std::string>();
            good += status.starts_with("Good") ? 1U : 0U;
            if (status == "BadNodeIdUnknown") {
                context.err << "tagferry: there is no tag \""
                            << printable(row.at("path").get<std::string>())
                            << "\"; `tagferry read '**'` shows all\n";
            }
        }
        if (rows.empty()) {
            context.err << "tagferry: no tag matches; `tagferry read '**'` shows all\n";
        }
        context.result =
            rows.empty() || good < rows.size() ? exit_code::failure : exit_code::success;
    });
}

}  // namespace

void register_read(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("read", "Prints values of tags");
    command
        ->add_option("tags", given->tags,
                     "Paths, or patterns: * within a part of a path, ** for any, ? for one")
        ->type_name("TAG")
        ->required();
    command->add_option("--max-age", given->max_age, "Ask the PLC for older ones: 0, 500ms, 2s")
        ->type_name("TIME");
    add_client_options(*command, given->client);
    add_direct_options(*command, given->client);
    command->footer(
        "\nExit code 1: a value is not Good, or a tag does not exist.\n"
        "\nExamples:\n"
        "  tagferry read press/tank/level 'boiler/steam/*'\n"
        "  tagferry read --direct 192.0.2.10 DB1.DBD0:REAL 'MB10:ARRAY[0..3] OF BYTE'\n"
        "  tagferry read '**' --json | jq '.items[] | select(.status != \"Good\")'\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
