#include "gateway/cli/serving_options.hpp"

#include "gateway/config/suggestion.hpp"
#include "transport/memory/heap.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <system_error>
#include <utility>

namespace tagferry::gateway::cli {

namespace {

/// A line for people, or an event where a program reads the log.
void report_failure(const char* what, config::log_format format, log::logger& logger,
                    std::ostream& err) {
    if (format == config::log_format::json) {
        logger.write(log::event::gateway_failed, {{"reason", what}});
    } else {
        err << "tagferry: " << what << "\n";
    }
}

void print_for_people(const gateway_endpoints& endpoints, const serving_company& company,
                      std::ostream& out) {
    for (const std::string& each : endpoints.http) {
        out << "HTTP    " << each << "\n";
    }
    for (const std::string& each : endpoints.opcua) {
        out << "OPC UA  " << each << "\n";
    }
    for (const std::string& each : company.s7) {
        out << "S7      " << each << "\n";
    }
    out << std::flush;
}

}  // namespace

CLI::Option* add_port_option(CLI::App& command, const std::string& name, const std::string& words,
                             std::function<void(std::uint16_t)> set) {
    return command
        .add_option_function<std::string>(
            name,
            [name, set = std::move(set)](const std::string& text) {
                std::uint16_t port = 0;
                const auto [end, error] =
                    std::from_chars(text.data(), text.data() + text.size(), port);
                if (error != std::errc{} || end != text.data() + text.size()) {
                    throw CLI::ValidationError(name, config::quoted(text) +
                                                         " is no port; write 1 to 65535, or 0 "
                                                         "for any that is free");
                }
                set(port);
            },
            words)
        ->type_name("PORT");
}

void add_duration_option(CLI::App& command, std::optional<std::chrono::milliseconds>& duration) {
    command
        .add_option_function<std::string>(
            "--duration",
            [&duration](const std::string& text) {
                duration = parse_duration(text);
                if (!duration) {
                    throw CLI::ValidationError("--duration", "\"" + text +
                                                                 "\" is no duration; write 50s, "
                                                                 "10m, 2h or 1500ms");
                }
            },
            "End by itself after so long, e.g. 50s or 10m")
        ->type_name("TIME");
}

void add_serving_options(CLI::App& command, serving_options& options) {
    add_port_option(command, "--opcua-port", "OPC UA port on loopback, 0: any free",
                    [&options](std::uint16_t port) { options.opcua_port = port; });
    add_port_option(command, "--http-port", "HTTP port on loopback, 0: any free",
                    [&options](std::uint16_t port) { options.http_port = port; });
    command.add_flag("--json", options.json, "Print one line of JSON when it serves");
    add_duration_option(command, options.duration);
}

void add_port_flags(const serving_options& options, config::load_options& load) {
    if (options.opcua_port) {
        load.flags.emplace_back("opcua.listen", "127.0.0.1:" + std::to_string(*options.opcua_port));
    }
    if (options.http_port) {
        load.flags.emplace_back("web.listen", "127.0.0.1:" + std::to_string(*options.http_port));
    }
}

exit_code serve(const serving_options& options, config::configuration settings,
                const serving_company& company, end_signals& signals, log::logger& logger,
                const transport::clock& clock, command_context& context) {
    const config::log_format format = settings.log.format;
    std::unique_ptr<gateway> served;
    try {
        logger.write(log::event::gateway_starting, {{"connections", settings.connections.size()}});
        served = std::make_unique<gateway>(std::move(settings), logger, clock);
        served->start();
    } catch (const std::system_error& fault) {
        report_failure(fault.what(), format, logger, context.err);
        return exit_code::cannot_create;
    } catch (const std::exception& fault) {
        report_failure(fault.what(), format, logger, context.err);
        return exit_code::failure;
    }
    const gateway_endpoints& at = served->endpoints();
    if (options.json) {
        print_serving_line(context.out, {at.opcua, at.http, company.s7, company.token});
    } else if (company.announce) {
        company.announce(at);
    } else {
        print_for_people(at, company, context.out);
    }
    transport::give_back_free_heap();
    transport::give_back_start_up_code();
    logger.write(log::event::gateway_ready);
    serve_until_end(signals, *served, options.duration, company.reload);
    logger.write(log::event::gateway_stopping);
    served->stop();
    logger.write(log::event::gateway_stopped);
    return exit_code::success;
}

}  // namespace tagferry::gateway::cli
