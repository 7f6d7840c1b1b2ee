// The plant of the demo as it runs: two simulated PLCs with their physics and faults, on a thread
// of their own.
#pragma once

#include "gateway/log/log.hpp"
#include "gateway/simulation/demo_plant.hpp"
#include "gateway/simulation/fault_script.hpp"
#include "gateway/simulation/plant_physics.hpp"
#include "gateway/simulation/simulated_station.hpp"
#include "transport/threads/shard.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tagferry::gateway::cli {

struct demo_plant_options {
    std::uint16_t s7_port = 0;  ///< of the press, the boiler gets the next; 0: any free ones
    /// `on`, `off` or faults as fault_text.hpp has them; none: on.
    std::vector<std::string> faults;
};

class demo_plant_shard {
  public:
    /// Starts at once. Throws std::invalid_argument for a fault nobody knows and std::system_error
    /// when a port cannot be had. @param logger,clock outlive this.
    demo_plant_shard(const demo_plant_options& options, log::logger& logger,
                     const transport::clock& clock);
    ~demo_plant_shard();
    demo_plant_shard(const demo_plant_shard&) = delete;
    demo_plant_shard& operator=(const demo_plant_shard&) = delete;

    std::array<std::uint16_t, demo_plc_count> ports() const {
        return {press_.port(), boiler_.port()};
    }
    const std::array<std::string, demo_plc_count>& endpoints() const noexcept { return endpoints_; }
    /// What will go wrong and when, a line each; empty when nothing will.
    std::string fault_words() const;

  private:
    /// Says what happens to the cable.
    class cable_words final : public fault_listener {
      public:
        explicit cable_words(log::logger& logger) noexcept : log_(logger) {}
        void cable_pulled() override { say("cable pulled"); }
        void cable_plugged_in() override { say("cable plugged in"); }

      private:
        void say(std::string_view what) {
            log_.write(log::event::demo_fault, {{"connection", demo_plc_name(1)}, {"fault", what}});
        }
        log::logger& log_;
    };

    bool pulls_cable_;
    std::vector<s7::scripted_fault> faults_;
    transport::shard shard_;
    simulated_station press_;
    simulated_station boiler_;
    plant_physics physics_;
    cable_words words_;
    fault_script cable_;
    std::array<std::string, demo_plc_count> endpoints_;
};

}  // namespace tagferry::gateway::cli
