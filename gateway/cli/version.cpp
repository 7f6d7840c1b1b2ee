// tagferry version
#include "gateway/model/version.hpp"

#include "gateway/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>
#include <string>

namespace tagferry::gateway::cli {

void register_version(CLI::App& root, command_context& context) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = root.add_subcommand("version", "Prints which Tagferry this is");
    command->add_flag("--json", *json, "Print one JSON object");
    command->footer(
        "\nExamples:\n"
        "  tagferry version\n"
        "  tagferry version --json | jq -r .version\n");
    command->callback([json, &context] {
        if (*json) {
            nlohmann::ordered_json made;
            made["version"] = std::string{version()};
            made["compiler"] = std::string{compiler()};
            context.out << made.dump() << "\n";
        } else {
            context.out << "tagferry " << version() << "\n";
        }
    });
}

}  // namespace tagferry::gateway::cli
