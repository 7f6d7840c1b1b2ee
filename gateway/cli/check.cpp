// tagferry check: everything that is wrong with a configuration, at once.
#include "gateway/cli/command.hpp"
#include "gateway/cli/configuration_options.hpp"
#include "gateway/config/load.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>
#include <string>

namespace tagferry::gateway::cli {

namespace {

struct options {
    configuration_options configuration;
    bool json = false;
    bool strict = false;
};

std::string counted(std::size_t number, const std::string& thing) {
    return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

std::size_t tag_count(const config::configuration& value) {
    std::size_t tags = 0;
    for (const auto& link : value.connections) {
        tags += link.tags.size();
    }
    return tags;
}

void print_json(const config::load_result& result, bool valid, std::ostream& out) {
    nlohmann::ordered_json made;
    made["valid"] = valid;
    made["errors"] = result.found.error_count();
    made["warnings"] = result.found.warning_count();
    made["connections"] = result.value.connections.size();
    made["tags"] = tag_count(result.value);
    made["findings"] = nlohmann::ordered_json::array();
    for (const auto& finding : result.found.findings()) {
        nlohmann::ordered_json row;
        row["source"] = std::string{result.found.source_name(finding.where.source)};
        if (finding.where.line != 0) {
            row["line"] = finding.where.line;
            row["column"] = finding.where.column;
        }
        row["level"] = finding.level == config::severity::error ? "error" : "warning";
        row["text"] = finding.text;
        row["hint"] = finding.hint;
        made["findings"].push_back(row);
    }
    // What could not be read as UTF-8 may stand in a text: it is replaced, never thrown over.
    out << made.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void print_text(const config::load_result& result, const std::string& file, bool valid,
                std::ostream& out) {
    for (const auto& finding : result.found.findings()) {
        out << result.found.render(finding) << "\n";
    }
    out << file << ": " << (valid ? "valid, " : "invalid, ")
        << counted(result.found.error_count(), "error") << ", "
        << counted(result.found.warning_count(), "warning");
    if (valid) {
        out << ", " << counted(result.value.connections.size(), "connection") << ", "
            << counted(tag_count(result.value), "tag");
    }
    out << "\n";
}

void run(const options& given, command_context& context) {
    const config::load_options load = load_options_of(given.configuration);
    const config::load_result result = config::load(load);
    const bool valid = result.found.ok() && (!given.strict || result.found.warning_count() == 0);
    if (given.json) {
        print_json(result, valid, context.out);
    } else {
        print_text(result, load.file, valid, context.out);
    }
    context.result = valid ? exit_code::success : exit_code::bad_configuration;
}

}  // namespace

void register_check(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("check", "Lists everything wrong with a configuration");
    add_configuration_options(*command, given->configuration);
    command->add_flag("--json", given->json, "Print one JSON object");
    command->add_flag("--strict", given->strict, "Warnings make it invalid too");
    command->footer(
        "\nWithout -c: $TAGFERRY_CONFIG, else /etc/tagferry/tagferry.json.\n"
        "\nExamples:\n"
        "  tagferry check -c tagferry.json --set opcua.listen=127.0.0.1:0\n"
        "  tagferry check -c tagferry.json --json | jq .findings\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
