// tagferry run: the gateway, until it is told to end.
#include "gateway/app/gateway.hpp"
#include "gateway/app/process.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/configuration_options.hpp"
#include "gateway/cli/serving_options.hpp"
#include "gateway/config/load.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace tagferry::gateway::cli {

namespace {

struct options {
    configuration_options configuration;
    serving_options serving;
};

/// None when something is wrong, which has been said then. The texts that findings refer to are
/// gone when it returns.
std::optional<config::configuration> read_configuration(const config::load_options& load,
                                                        command_context& context) {
    config::load_result loaded = config::load(load);
    for (const auto& finding : loaded.found.findings()) {
        context.err << loaded.found.render(finding) << "\n";
    }
    return loaded.found.ok() ? std::optional(std::move(loaded.value)) : std::nullopt;
}

/// SIGHUP: the configuration is read again from where it came. What cannot be taken over leaves
/// the old one in force, whole.
void reload(const config::load_options& from, gateway& served, log::logger& logger) {
    config::load_result loaded = config::load(from);
    if (!loaded.found.ok()) {
        const std::string first = loaded.found.render(loaded.found.findings().front());
        served.reload_failed();
        logger.write(
            log::event::config_invalid,
            {{"file", from.file}, {"text", first}, {"findings", loaded.found.findings().size()}});
        return;
    }
    try {
        served.apply(std::move(loaded.value));
        logger.write(log::event::config_loaded, {{"file", from.file}});
    } catch (const std::exception& fault) {
        served.reload_failed();
        logger.write(log::event::config_not_applied,
                     {{"file", from.file}, {"reason", std::string_view{fault.what()}}});
    }
}

void run(const options& given, command_context& context) {
    config::load_options load = load_options_of(given.configuration);
    add_port_flags(given.serving, load);
    std::optional<config::configuration> settings = read_configuration(load, context);
    if (!settings) {
        context.result = exit_code::bad_configuration;
        return;
    }
    end_signals signals;
    const transport::real_clock clock;
    process_log log(settings->log, settings->limits, clock);
    serving_company company;
    company.reload = [&load, &log](gateway& served) { reload(load, served, log.logger()); };
    context.result =
        serve(given.serving, std::move(*settings), company, signals, log.logger(), clock, context);
}

}  // namespace

void register_run(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("run", "Runs the gateway");
    add_configuration_options(*command, given->configuration);
    add_serving_options(*command, given->serving);
    command->footer(
        "\nExamples:\n"
        "  tagferry run -c tagferry.json\n"
        "  tagferry run -c tagferry.json --opcua-port 0 --http-port 0 --json\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
