// tagferry token: credentials of machines.
#include "gateway/cli/command.hpp"
#include "gateway/config/access_token.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

struct options {
    std::string name = "machine";
    std::string role = "viewer";
    bool json = false;
};

void run(const options& given, command_context& context) {
    const std::string token = config::make_token();
    config::token_hasher hasher;
    config::token_digest digest{};
    if (!hasher.digest(token, digest)) {
        context.err << "tagferry: OpenSSL cannot digest\n";
        context.result = exit_code::failure;
        return;
    }
    const nlohmann::ordered_json entry = {
        {"name", given.name}, {"role", given.role}, {"sha256", config::to_hex(digest)}};
    if (given.json) {
        const nlohmann::ordered_json made = {{"token", token}, {"configuration", entry}};
        context.out << made.dump() << "\n";
        return;
    }
    context.out << token << "\n" << entry.dump() << std::endl;
    context.err << "The first line is the token; keep it where only its holder can read it: it is "
                   "shown this\nonce. The second line goes into web.tokens of the configuration. "
                   "The holder sends\n  Authorization: Bearer TOKEN\n";
}

}  // namespace

void register_token(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("token", "Makes credentials of machines");
    command->require_subcommand(1);
    command->footer(
        "\nExamples:\n"
        "  tagferry token new --role operator --name mes\n"
        "  tagferry token new --json | jq -r .token\n");
    CLI::App* make = command->add_subcommand(
        "new", "Prints a new token and the line of web.tokens that lets it in");
    make->add_option("--name", given->name, "Who holds it, as the log shows it")
        ->capture_default_str()
        ->check(CLI::Validator(
            [](const std::string& name) {
                return name.empty() || name.size() > 64 ? std::string{"1 to 64 bytes"}
                                                        : std::string{};
            },
            ""));
    make->add_option("--role", given->role, "viewer reads, operator also writes, admin all")
        ->capture_default_str()
        ->check(CLI::IsMember({"viewer", "operator", "admin"}));
    make->add_flag("--json", given->json, "Print one JSON object");
    make->footer(
        "\nExamples:\n"
        "  tagferry token new --role operator --name mes\n"
        "  tagferry token new --json | jq .configuration\n");
    make->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
