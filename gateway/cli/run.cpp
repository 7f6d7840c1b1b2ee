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

/// What is doubtful or wrong: a line with its place for people, an event for a log in JSON, of
/// which every line can then be read by the same program.
void report(const config::load_result& loaded, log::logger& logger, std::ostream& err) {
    for (const config::diagnostic& finding : loaded.found.findings()) {
        if (loaded.value.log.format != config::log_format::json) {
            err << loaded.found.render(finding) << "\n";
            continue;
        }
        const std::string place = loaded.found.render({finding.level, finding.where, {}, {}});
        logger.write(finding.level == config::severity::error ? log::event::config_invalid
                                                              : log::event::config_warning,
                     {{"place", place}, {"text", finding.text}, {"hint", finding.hint}});
    }
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
    end_signals signals;
    const transport::real_clock clock;
    std::optional<config::load_result> loaded = config::load(load);
    process_log log(loaded->value.log, loaded->value.limits, clock);
    report(*loaded, log.logger(), context.err);
    if (!loaded->found.ok()) {
        context.result = exit_code::bad_configuration;
        return;
    }
    config::configuration settings = std::move(loaded->value);
    // What was found, with its texts, is not kept while the gateway runs.
    loaded.reset();
    serving_company company;
    company.reload = [&load, &log](gateway& served) { reload(load, served, log.logger()); };
    context.result =
        serve(given.serving, std::move(settings), company, signals, log.logger(), clock, context);
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
