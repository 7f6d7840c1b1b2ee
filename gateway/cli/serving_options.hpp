// What `run` and `demo` have in common: ports, the line for scripts, and the serving itself.
#pragma once

#include "gateway/app/gateway.hpp"
#include "gateway/app/process.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/config/load.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tagferry::gateway::cli {

struct serving_options {
    std::optional<std::uint16_t> opcua_port;  ///< 0: any free one; nothing: as configured
    std::optional<std::uint16_t> http_port;
    bool json = false;
    std::optional<std::chrono::milliseconds> duration;  ///< nothing: until a signal
};

/// Adds `--opcua-port`, `--http-port`, `--json` and `--duration`.
void add_serving_options(CLI::App& command, serving_options& options);

/// Adds an option that takes a port, 0 to 65535, and says so when it is given something else.
/// @param name with its dashes. @param set is called with the port, and outlives the parsing.
CLI::Option* add_port_option(CLI::App& command, const std::string& name, const std::string& words,
                             std::function<void(std::uint16_t)> set);

/// Adds `--duration 50s` alone.
void add_duration_option(CLI::App& command, std::optional<std::chrono::milliseconds>& duration);

/// The ports as flags that stand over the file; every listener of a kind becomes one on loopback.
void add_port_flags(const serving_options& options, config::load_options& load);

/// Something that runs beside the gateway and is seen by whoever reads the terminal.
struct serving_company {
    std::vector<std::string> s7;  ///< endpoints of simulated PLCs
    std::string token;            ///< of a single run, for the line of scripts; empty: none
    /// Prints instead of the endpoints once it serves and no script reads; may be empty.
    std::function<void(const gateway_endpoints&)> announce{};
    /// What SIGHUP does; empty: nothing.
    std::function<void(gateway&)> reload{};
};

/// Builds the gateway, prints where it is, and serves until the end. Words of failure go to the
/// context. @return how the command ended.
exit_code serve(const serving_options& options, config::configuration settings,
                const serving_company& company, end_signals& signals, log::logger& logger,
                const transport::clock& clock, command_context& context);

}  // namespace tagferry::gateway::cli
