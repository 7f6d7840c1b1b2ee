// The flags by which a command finds its configuration; the same for all that need one.
#pragma once

#include "gateway/config/load.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tagferry::gateway::cli {

/// What the flags were given. Must outlive the parsing.
struct configuration_options {
    std::string file;                      ///< `-c FILE`; empty: not given
    std::vector<std::string> assignments;  ///< `--set key=value`
    std::string log_format;                ///< `--log-format`; empty: not given
};

/// Adds `-c/--config`, `--set` and `--log-format` to a command.
void add_configuration_options(CLI::App& command, configuration_options& options);

/// The file that is read: the flag's, else that of the variable TAGFERRY_CONFIG, else
/// `/etc/tagferry/tagferry.json`.
std::string configuration_file(const configuration_options& options);

/// For config::load(): file, environment of the process, flags. An assignment without `=` becomes
/// one of an empty value, which the field then refuses with words of its own.
config::load_options load_options_of(const configuration_options& options);

}  // namespace tagferry::gateway::cli
