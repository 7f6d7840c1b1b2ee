#include "gateway/cli/demo_plant_shard.hpp"

#include "gateway/simulation/fault_text.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace tagferry::gateway::cli {

namespace {

bool is_switch(const std::string& word) {
    return word == "on" || word == "off";
}

bool pulls_cable(const std::vector<std::string>& faults) {
    return faults.empty() || std::find(faults.begin(), faults.end(), "on") != faults.end();
}

/// Faults that say no time of their own come and go as the cable does.
std::vector<s7::scripted_fault> faults_of(const std::vector<std::string>& words) {
    std::vector<s7::scripted_fault> made;
    for (const std::string& word : words) {
        if (is_switch(word)) {
            continue;
        }
        std::string error;
        s7::scripted_fault fault = parse_fault_text(word, error);
        if (!error.empty()) {
            throw std::invalid_argument("--faults: " + error);
        }
        if (word.find("start=") == std::string::npos) {
            const fault_schedule usual;
            fault.start = usual.first;
            fault.length = usual.length;
            fault.period = usual.period;
        }
        made.push_back(fault);
    }
    return made;
}

std::uint16_t port_after(std::uint16_t first) {
    return first == 0 ? first : static_cast<std::uint16_t>(first + 1);
}

std::string seconds_words(transport::duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

demo_plant_shard::demo_plant_shard(const demo_plant_options& options, log::logger& logger,
                                   const transport::clock& clock)
    : pulls_cable_(pulls_cable(options.faults)),
      faults_(faults_of(options.faults)),
      shard_({.name = "plcs"}, clock),
      press_(shard_, still_demo_plc(0), options.s7_port),
      boiler_(shard_, still_demo_plc(1), port_after(options.s7_port), faults_),
      physics_(shard_, press_.plc().memory(), boiler_.plc().memory()),
      words_(logger),
      cable_(shard_, boiler_, {}, words_),
      endpoints_{press_.endpoint(), boiler_.endpoint()} {
    press_.start();
    boiler_.start();
    physics_.start();
    if (pulls_cable_) {
        cable_.start();
    }
    shard_.start();
}

demo_plant_shard::~demo_plant_shard() {
    shard_.stop();
    shard_.join();
}

std::string demo_plant_shard::fault_words() const {
    std::string words;
    if (pulls_cable_) {
        const fault_schedule usual;
        words += "In " + seconds_words(usual.first) + ", and every " + seconds_words(usual.period) +
                 " from then on, the boiler's cable is pulled for " + seconds_words(usual.length) +
                 ":\nwatch its tags turn Bad, with the reason, and Good again by themselves.\n";
    }
    for (const s7::scripted_fault& each : faults_) {
        const auto& described = s7::fault_catalogue()[static_cast<std::size_t>(each.kind)];
        words += "After " + seconds_words(each.start) +
                 " the boiler's PLC shows: " + std::string{described.words} + ".\n";
    }
    return words;
}

}  // namespace tagferry::gateway::cli
