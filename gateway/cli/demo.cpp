// tagferry demo: a plant in one process, without PLC, root or files.
#include "gateway/app/process.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/demo_plant_shard.hpp"
#include "gateway/cli/demo_table.hpp"
#include "gateway/cli/free_port.hpp"
#include "gateway/cli/serving_options.hpp"
#include "gateway/config/checks.hpp"
#include "gateway/simulation/demo_plant.hpp"

#include <CLI/CLI.hpp>
#include <errno.h>
#include <unistd.h>

#include <memory>
#include <ostream>
#include <sstream>
#include <system_error>

namespace tagferry::gateway::cli {

namespace {

constexpr std::uint16_t default_s7_port = 1102;
constexpr std::uint16_t default_opcua_port = 4840;
constexpr std::uint16_t default_http_port = 8080;

struct options {
    serving_options serving;
    std::optional<std::uint16_t> s7_port;
    std::vector<std::string> faults;
};

/// The port asked for, else the usual one or the next that is free.
std::uint16_t port_of(const std::optional<std::uint16_t>& asked, std::uint16_t usual) {
    return asked ? *asked : next_free_port(usual);
}

config::configuration settings_of(const options& given, const demo_plant_shard& plant,
                                  const std::string& token) {
    config::configuration settings;
    settings.state_directory.clear();
    settings.opcua.allow_none_policy = true;
    settings.opcua.listen = {
        {"127.0.0.1", port_of(given.serving.opcua_port, default_opcua_port), {}}};
    settings.web.listen = {{"127.0.0.1", port_of(given.serving.http_port, default_http_port), {}}};
    config::web_token writer;
    writer.name = "demo";
    writer.role = config::token_role::operator_;
    config::token_hasher{}.digest(token, writer.digest);
    settings.web.tokens.push_back(writer);
    for (std::size_t i = 0; i < demo_plc_count; ++i) {
        settings.connections.push_back(demo_connection(i, plant.ports()[i]));
    }
    config::resolve(settings);
    return settings;
}

/// Lines to be copied, with this binary as it was called.
std::string words_for_people(const gateway_endpoints& at, const demo_plant_shard& plant,
                             const std::string& token) {
    const std::string http = at.http.front();
    const std::string self = program_invocation_name;
    const std::string url = http == "http://127.0.0.1:8080" ? std::string{} : " --url " + http;
    const std::string write = "  " + self + " write" + url;
    std::ostringstream words;
    words << "A press and a boiler, simulated. Nothing is written to disk.\n\n"
          << "Page     " << http << "/\n"
          << "OPC UA   " << at.opcua.front() << "  (no security, anonymous)\n"
          << "PLCs     " << plant.endpoints()[0] << ", " << plant.endpoints()[1] << "\n"
          << "Token    " << token << "  (writes; ends with this demo)\n\n"
          << "Try in another terminal:\n"
          << "  curl " << http << "/api/v1/values/press/tank/level\n"
          << "  curl -s " << http << "/metrics | grep tagferry_connection_up\n"
          << "  " << self << " watch 'press/tank/*'" << url << "\n"
          << "  export TAGFERRY_TOKEN=" << token << "\n"
          << write << " press/recipe/setpoint 700   # ram/force follows\n"
          << write << " press/tank/level 1          # read-only: says so\n\n"
          << plant.fault_words() << "Ctrl-C ends the demo.\n\n";
    return words.str();
}

void run(const options& given, command_context& context) {
    end_signals signals;
    const transport::real_clock clock;
    const output_style style = style_of(context.out);
    const bool table = style.terminal && !given.serving.json && isatty(STDERR_FILENO) != 0;
    config::log_section quiet;
    quiet.level = table ? config::log_level::error : config::log_level::info;
    process_log log(quiet, {}, clock);
    std::unique_ptr<demo_plant_shard> plant;
    try {
        plant = std::make_unique<demo_plant_shard>(
            demo_plant_options{
                given.s7_port.value_or(next_free_port(default_s7_port, demo_plc_count)),
                given.faults},
            log.logger(), clock);
    } catch (const std::invalid_argument& fault) {
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = exit_code::usage;
        return;
    } catch (const std::system_error& fault) {
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = exit_code::cannot_create;
        return;
    }
    const std::string token = config::make_token();
    std::unique_ptr<demo_table> drawn;
    serving_company company;
    company.s7 = {plant->endpoints().begin(), plant->endpoints().end()};
    company.token = token;
    company.announce = [&](const gateway_endpoints& at) {
        context.out << words_for_people(at, *plant, token) << std::flush;
        if (table) {
            drawn = std::make_unique<demo_table>(gateway_address_of(at.http.front()), style,
                                                 context.out);
        }
    };
    context.result = serve(given.serving, settings_of(given, *plant, token), company, signals,
                           log.logger(), clock, context);
}

}  // namespace

void register_demo(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("demo", "Shows a plant: no PLC, root or files needed");
    add_serving_options(*command, given->serving);
    add_port_option(*command, "--s7-port", "The PLCs get this port and the next, 0: any free",
                    [given](std::uint16_t port) { given->s7_port = port; });
    command
        ->add_option("--faults", given->faults,
                     "on (the boiler's cable is pulled), off, or faults of `sim --faults`, by name")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command->footer(
        "\nPorts not given are 4840, 8080 and 1102, or the next free ones.\n"
        "\nExamples:\n"
        "  tagferry demo\n"
        "  tagferry demo --faults silence --faults late_reply\n"
        "  tagferry demo --faults=off --duration=60s --http-port 0 --json\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
