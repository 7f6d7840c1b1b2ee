// tagferry demo: a plant in one process, without PLC, root or files.
#include "gateway/app/process.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/serving_options.hpp"
#include "gateway/config/checks.hpp"
#include "gateway/simulation/demo_plant.hpp"
#include "gateway/simulation/fault_script.hpp"
#include "gateway/simulation/simulated_station.hpp"
#include "transport/threads/shard.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <memory>
#include <ostream>
#include <system_error>

namespace tagferry::gateway::cli {

namespace {

constexpr std::uint16_t default_s7_port = 1102;
constexpr std::uint16_t default_opcua_port = 4840;
constexpr std::uint16_t default_http_port = 8080;

struct options {
    serving_options serving;
    std::uint16_t s7_port = default_s7_port;
    bool faults = true;
};

/// Says what happens to the cable.
class fault_words final : public fault_listener {
  public:
    explicit fault_words(log::logger& logger) noexcept : log_(logger) {}
    void cable_pulled() override { say("cable pulled"); }
    void cable_plugged_in() override { say("cable plugged in"); }

  private:
    void say(std::string_view what) {
        log_.write(log::event::demo_fault, {{"connection", demo_plc_name(1)}, {"fault", what}});
    }
    log::logger& log_;
};

/// The two PLCs, on a thread of their own.
class plant {
  public:
    plant(const options& given, log::logger& logger, const transport::clock& clock)
        : shard_({.name = "plcs"}, clock),
          press_(shard_, demo_plc(0), given.s7_port),
          boiler_(shard_, demo_plc(1), second_port(given.s7_port)),
          words_(logger),
          script_(shard_, boiler_, {}, words_) {
        press_.start();
        boiler_.start();
        if (given.faults) {
            script_.start();
        }
        shard_.start();
    }
    ~plant() {
        shard_.stop();
        shard_.join();
    }

    std::array<const simulated_station*, demo_plc_count> stations() const {
        return {&press_, &boiler_};
    }

  private:
    static std::uint16_t second_port(std::uint16_t first) {
        return first == 0 ? first : static_cast<std::uint16_t>(first + 1);
    }

    transport::shard shard_;
    simulated_station press_;
    simulated_station boiler_;
    fault_words words_;
    fault_script script_;
};

config::configuration settings_of(const options& given, const plant& made) {
    config::configuration settings;
    settings.state_directory.clear();
    settings.opcua.allow_none_policy = true;
    settings.opcua.listen = {
        {"127.0.0.1", given.serving.opcua_port.value_or(default_opcua_port), {}}};
    settings.web.listen = {{"127.0.0.1", given.serving.http_port.value_or(default_http_port), {}}};
    for (std::size_t i = 0; i < demo_plc_count; ++i) {
        settings.connections.push_back(demo_connection(i, made.stations()[i]->port()));
    }
    config::resolve(settings);
    return settings;
}

std::string words_for_people() {
    return "\nTry in another terminal:\n"
           "  curl {http}/api/v1/values/press/tank/level\n"
           "  curl '{http}/api/v1/values?filter=boiler/**'\n"
           "  curl -s {http}/metrics | grep tagferry_connection_up\n"
           "Every now and then the cable of the boiler's PLC comes out: watch its tags turn bad "
           "and good again.\nCtrl-C ends the demo.\n";
}

void run(const options& given, command_context& context) {
    end_signals signals;
    const transport::real_clock clock;
    process_log log({}, {}, clock);
    std::unique_ptr<plant> made;
    try {
        made = std::make_unique<plant>(given, log.logger(), clock);
    } catch (const std::system_error& fault) {
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = exit_code::cannot_create;
        return;
    }
    serving_company company;
    for (const simulated_station* each : made->stations()) {
        company.s7.push_back(each->endpoint());
    }
    company.words = words_for_people();
    context.result = serve(given.serving, settings_of(given, *made), company, signals, log.logger(),
                           clock, context);
}

}  // namespace

void register_demo(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("demo", "Shows a plant: no PLC, root or files needed");
    add_serving_options(*command, given->serving);
    add_port_option(*command, "--s7-port",
                    "The simulated PLCs get this port and the next, 0: any free",
                    [given](std::uint16_t port) { given->s7_port = port; })
        ->default_str(std::to_string(default_s7_port));
    command
        ->add_option_function<std::string>(
            "--faults", [given](const std::string& text) { given->faults = text == "on"; },
            "Pull a cable now and then: on, or off. Default: on")
        ->check(CLI::IsMember({"on", "off"}));
    command->footer(
        "\nExamples:\n"
        "  tagferry demo\n"
        "  tagferry demo --opcua-port 0 --http-port 0 --s7-port 0 --duration 60s --json\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
