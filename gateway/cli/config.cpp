// tagferry config: about configurations in general.
#include "gateway/cli/command.hpp"
#include "gateway/config/load.hpp"

#include <CLI/CLI.hpp>

#include <ostream>

namespace tagferry::gateway::cli {

void register_config(CLI::App& root, command_context& context) {
    CLI::App* command = root.add_subcommand("config", "Schema and reference of the configuration");
    command->require_subcommand(1);
    command->footer(
        "\nExamples:\n"
        "  tagferry config schema > tagferry.schema.json\n"
        "  tagferry config reference | less\n");
    CLI::App* schema =
        command->add_subcommand("schema", "Prints the JSON Schema (2020-12) of the file");
    schema->footer(
        "\nExamples:\n"
        "  tagferry config schema > tagferry.schema.json\n"
        "  tagferry config schema | jq '.[\"$defs\"].tag'\n");
    schema->callback([&context] { context.out << config::json_schema(); });
    CLI::App* reference =
        command->add_subcommand("reference", "Prints every key with its range and default");
    reference->footer(
        "\nExamples:\n"
        "  tagferry config reference | less\n"
        "  tagferry config reference | grep timeout\n");
    reference->callback([&context] { context.out << config::reference_page(); });
}

}  // namespace tagferry::gateway::cli
