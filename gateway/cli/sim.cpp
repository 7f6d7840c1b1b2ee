// tagferry sim: a simulated S7 PLC on a loopback port.
#include "gateway/app/process.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/serving_options.hpp"
#include "gateway/config/suggestion.hpp"
#include "gateway/simulation/demo_plant.hpp"
#include "gateway/simulation/fault_text.hpp"
#include "gateway/simulation/memory_dump.hpp"
#include "gateway/simulation/plc_file.hpp"
#include "gateway/simulation/simulated_station.hpp"
#include "transport/threads/shard.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <system_error>

namespace tagferry::gateway::cli {

namespace {

constexpr std::uint16_t default_port = 1102;

struct options {
    std::string plc_file;
    std::string dump_file;
    std::uint16_t port = default_port;
    bool json = false;
    std::optional<std::chrono::milliseconds> duration;
    // What stands over the file.
    std::string profile;
    std::optional<std::uint16_t> pdu_size;
    std::optional<std::uint16_t> jobs;
    std::optional<std::size_t> tpdu_size;
    std::optional<std::chrono::milliseconds> latency;
    bool serial = false;
    std::vector<std::string> faults;
};

/// The text of a file, or nothing once the reason has been said.
std::optional<std::string> text_of(const std::string& file, command_context& context) {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (in.bad() || !in.is_open() || errno == EISDIR) {
        const std::error_code reason(errno, std::system_category());
        context.err << "tagferry: cannot read the PLC file " << config::quoted(file) << ": "
                    << reason.message()
                    << "\nIt says what the PLC holds, as JSON; without --plc the press of the demo "
                       "is simulated.\n";
        return std::nullopt;
    }
    return text;
}

/// The file's PLC, or the demo's press without a file. Says what is wrong with the file.
std::optional<simulated_plc_file> plc_of(const options& given, command_context& context) {
    if (given.plc_file.empty()) {
        return simulated_plc_file{demo_plc(0), {}};
    }
    auto text = text_of(given.plc_file, context);
    if (!text) {
        return std::nullopt;
    }
    config::diagnostics found;
    simulated_plc_file made = parse_plc_file(std::move(*text), given.plc_file, found);
    for (const auto& finding : found.findings()) {
        context.err << found.render(finding) << "\n";
    }
    return found.ok() ? std::optional(std::move(made)) : std::nullopt;
}

void apply_flags(const options& given, simulated_plc_file& made) {
    s7::simulator_config& plc = made.plc;
    plc.profile = given.profile.empty() ? plc.profile : given.profile;
    plc.pdu_size = given.pdu_size.value_or(plc.pdu_size);
    plc.calling_jobs = given.jobs.value_or(plc.calling_jobs);
    plc.tpdu_size = given.tpdu_size.value_or(plc.tpdu_size);
    plc.serial = plc.serial || given.serial;
    if (given.latency) {
        plc.latency = *given.latency;
    }
    for (const std::string& text : given.faults) {
        std::string error;
        made.faults.push_back(parse_fault_text(text, error));
    }
}

void print_end(const options& given, const s7::simulator_counters& counters, std::ostream& out) {
    if (given.json) {
        out << counters_as_json(counters) << std::endl;
        return;
    }
    out << counters.jobs << " jobs (" << counters.read_jobs << " reads, " << counters.write_jobs
        << " writes) on " << counters.connections << " connections\n";
}

void write_dump(const std::string& file, s7::plc_memory& memory) {
    errno = 0;
    std::ofstream out(file, std::ios::binary);
    out << memory_as_json(memory) << "\n";
    if (!out.flush()) {
        throw std::system_error(errno, std::system_category(), "cannot write " + file);
    }
}

void serve_plc(const options& given, const simulated_plc_file& made, command_context& context) {
    end_signals signals;
    const transport::real_clock clock;
    transport::shard shard({.name = "plc"}, clock);
    simulated_station station(shard, made.plc, given.port, made.faults);
    station.start();
    shard.start();
    if (given.json) {
        print_serving_line(context.out, {{}, {}, {station.endpoint()}});
    } else {
        context.out << "S7  " << station.endpoint() << "  (" << made.plc.profile << ")"
                    << std::endl;
    }
    wait_for_end(signals, given.duration);
    shard.stop();
    shard.join();
    print_end(given, station.plc().counters(), context.out);
    if (!given.dump_file.empty()) {
        write_dump(given.dump_file, station.plc().memory());
    }
}

void run(const options& given, command_context& context) {
    auto made = plc_of(given, context);
    if (!made) {
        context.result = exit_code::bad_configuration;
        return;
    }
    apply_flags(given, *made);
    try {
        serve_plc(given, *made, context);
    } catch (const std::invalid_argument& fault) {
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = exit_code::bad_configuration;
    } catch (const std::system_error& fault) {
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = exit_code::cannot_create;
    }
}

void check_profile(const std::string& name) {
    if (s7::find_plc_profile(name) == nullptr) {
        std::vector<std::string_view> names;
        for (const s7::plc_profile& each : s7::plc_profiles()) {
            names.push_back(each.name);
        }
        throw CLI::ValidationError("--profile", "there is no profile " + config::quoted(name) +
                                                    " (" + config::suggestion(name, names) + ")");
    }
}

std::string fault_page() {
    return "Faults, and their settings when nothing else is said:\n" + fault_help() +
           "\nEach may be given start, length and period (times; a period starts it again), and "
           "every, code,\nblock and delay where its line names them.\n";
}

void add_plc_options(CLI::App& command, const std::shared_ptr<options>& given) {
    command
        .add_option_function<std::string>(
            "--profile",
            [given](const std::string& name) {
                check_profile(name);
                given->profile = name;
            },
            "PDU and window of s7-300, s7-400, s7-1200 or s7-1500")
        ->type_name("NAME");
    command.add_option("--pdu-size", given->pdu_size, "Largest PDU granted, in bytes")
        ->check(CLI::Range(std::uint16_t{112}, std::uint16_t{2048}))
        ->type_name("BYTES");
    command.add_option("--jobs", given->jobs, "Jobs granted at the same time")
        ->check(CLI::Range(std::uint16_t{1}, std::uint16_t{64}))
        ->type_name("COUNT");
    command.add_option("--tpdu-size", given->tpdu_size, "Answers over it leave in fragments")
        ->check(CLI::IsMember({128, 256, 512, 1024, 2048}))
        ->type_name("BYTES");
    command
        .add_option_function<std::string>(
            "--latency",
            [given](const std::string& text) {
                given->latency = text == "0" ? std::chrono::milliseconds(0) : parse_duration(text);
                if (!given->latency) {
                    throw CLI::ValidationError(
                        "--latency", config::quoted(text) + " is no duration; write 0, 4ms or 1s");
                }
            },
            "From a job's arrival to its answer")
        ->type_name("TIME");
    command.add_flag("--serial", given->serial,
                     "Work on one job after the other, so that latencies add up");
    command
        .add_option_function<std::vector<std::string>>(
            "--fault",
            [given](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    std::string error;
                    static_cast<void>(parse_fault_text(text, error));
                    if (!error.empty()) {
                        throw CLI::ValidationError("--fault", error);
                    }
                }
                given->faults = texts;
            },
            "Misbehave, see --faults; may be given several times")
        ->type_name("NAME[:SETTING=VALUE,...]");
    command.add_flag_callback(
        "--faults", [] { throw CLI::CallForVersion(fault_page(), 0); },
        "List the faults and their settings");
}

std::string footer() {
    return "\nExamples:\n"
           "  tagferry sim\n"
           "  tagferry sim --plc plc.json --port 0 --json\n"
           "  tagferry sim --profile s7-300 --latency 20ms --fault "
           "silence:start=10s,length=5s,period=60s\n";
}

}  // namespace

void register_sim(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("sim", "Runs a simulated S7 PLC on loopback");
    command
        ->add_option("--plc", given->plc_file,
                     "What the PLC holds, as JSON. Default: the press of the demo")
        ->type_name("FILE");
    add_port_option(*command, "--port", "Port on loopback, 0: any free",
                    [given](std::uint16_t port) { given->port = port; })
        ->default_str(std::to_string(default_port));
    add_plc_options(*command, given);
    command->add_flag("--json", given->json,
                      "Print one line of JSON when it serves, and one of counters at the end");
    command->add_option("--dump", given->dump_file, "At the end, write what the PLC holds as JSON")
        ->type_name("FILE");
    add_duration_option(*command, given->duration);
    command->footer(footer());
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
