// tagferry sim: a simulated S7 PLC on a loopback port.
#include "gateway/app/process.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/serving_options.hpp"
#include "gateway/simulation/demo_plant.hpp"
#include "gateway/simulation/plc_file.hpp"
#include "gateway/simulation/simulated_station.hpp"
#include "transport/threads/shard.hpp"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <system_error>

namespace tagferry::gateway::cli {

namespace {

struct options {
    std::string plc_file;
    std::uint16_t port = 1102;
    bool json = false;
    std::optional<std::chrono::milliseconds> duration;
};

/// The file's PLC, or the demo's press without a file. Says what is wrong with the file.
std::optional<s7::simulator_config> plc_of(const std::string& file, command_context& context) {
    if (file.empty()) {
        return demo_plc(0);
    }
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        context.err << file << ": error: cannot be read\n";
        return std::nullopt;
    }
    std::string text{std::istreambuf_iterator<char>(in), {}};
    config::diagnostics found;
    s7::simulator_config made = parse_plc_file(std::move(text), file, found);
    for (const auto& finding : found.findings()) {
        context.err << found.render(finding) << "\n";
    }
    return found.ok() ? std::optional(std::move(made)) : std::nullopt;
}

void serve_plc(const options& given, const s7::simulator_config& plc, command_context& context) {
    end_signals signals;
    const transport::real_clock clock;
    transport::shard shard({.name = "plc"}, clock);
    simulated_station station(shard, plc, given.port);
    station.start();
    shard.start();
    if (given.json) {
        print_serving_line(context.out, {{}, {}, {station.endpoint()}});
    } else {
        context.out << "S7  " << station.endpoint() << "  (" << plc.profile << ")" << std::endl;
    }
    wait_for_end(signals, given.duration);
    shard.stop();
    shard.join();
}

void run(const options& given, command_context& context) {
    const auto plc = plc_of(given.plc_file, context);
    if (!plc) {
        context.result = exit_code::bad_configuration;
        return;
    }
    try {
        serve_plc(given, *plc, context);
    } catch (const std::invalid_argument& fault) {
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = exit_code::bad_configuration;
    } catch (const std::system_error& fault) {
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = exit_code::cannot_create;
    }
}

}  // namespace

void register_sim(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("sim", "Runs a simulated S7 PLC on loopback");
    command
        ->add_option("--plc", given->plc_file,
                     "What the PLC holds, as JSON. Default: the press of the demo")
        ->type_name("FILE");
    command->add_option("--port", given->port, "Port on loopback, 0: any free")
        ->capture_default_str();
    command->add_flag("--json", given->json, "Print one line of JSON when it serves");
    add_duration_option(*command, given->duration);
    command->footer(
        "\nExamples:\n"
        "  tagferry sim\n"
        "  tagferry sim --plc plc.json --port 0 --json\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
