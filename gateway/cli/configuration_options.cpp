#include "gateway/cli/configuration_options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>

namespace tagferry::gateway::cli {

void add_configuration_options(CLI::App& command, configuration_options& options) {
    command.add_option("-c,--config", options.file, "Configuration file, - for standard input")
        ->type_name("FILE");
    command.add_option("--set", options.assignments, "One value over the file's; repeatable")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    command.add_option("--log-format", options.log_format, "Short for --set log.format=…")
        ->type_name("logfmt|json");
}

std::string configuration_file(const configuration_options& options) {
    if (!options.file.empty()) {
        return options.file;
    }
    const char* variable = std::getenv("TAGFERRY_CONFIG");
    if (variable != nullptr && *variable != '\0') {
        return variable;
    }
    return "/etc/tagferry/tagferry.json";
}

config::load_options load_options_of(const configuration_options& options) {
    config::load_options made;
    made.file = configuration_file(options);
    made.environment = config::environment_of_process();
    for (const std::string& each : options.assignments) {
        const std::size_t equals = each.find('=');
        const bool complete = equals != std::string::npos;
        made.flags.emplace_back(each.substr(0, equals),
                                complete ? each.substr(equals + 1) : std::string{});
    }
    if (!options.log_format.empty()) {
        made.flags.emplace_back("log.format", options.log_format);
    }
    return made;
}

}  // namespace tagferry::gateway::cli
