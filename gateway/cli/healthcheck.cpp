// tagferry healthcheck: one question for supervisors.
#include "gateway/cli/client_options.hpp"
#include "gateway/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

struct options {
    client_options client;
    bool ready = false;
};

void run(const options& given, command_context& context) {
    run_client(context, [&] {
        gateway_client client(gateway_of(given.client));
        const http_answer answer = client.request("GET", given.ready ? "/readyz" : "/healthz");
        const bool well = answer.status == 200;
        const std::string words =
            well ? (given.ready ? "ready" : "healthy") : std::string{fault_of(answer).what()};
        if (given.client.json) {
            const nlohmann::ordered_json made = {{"ok", well}, {"text", words}};
            context.out << made.dump() << "\n";
        } else {
            (well ? context.out : context.err) << words << "\n";
        }
        context.result = well ? exit_code::success : exit_code::failure;
    });
}

}  // namespace

void register_healthcheck(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command =
        root.add_subcommand("healthcheck", "Says whether a gateway works, for supervisors");
    command->add_flag("--ready", given->ready,
                      "Ask whether it serves, not only whether the process works");
    add_client_options(*command, given->client);
    command->footer(
        "\nIt is about the gateway: PLCs that cannot be reached do not count. Exit code 1: it is\n"
        "not well; 69: it does not answer.\n"
        "\nExamples:\n"
        "  tagferry healthcheck\n"
        "  tagferry healthcheck --ready --url http://127.0.0.1:8080 || systemctl restart "
        "tagferry\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
