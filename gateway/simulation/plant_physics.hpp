// What happens in the demo's plant: oil, pump and ram of a press, steam and water of a boiler.
// Set points that a client writes have the effect they would have.
#pragma once

#include "gateway/simulation/plant_memory.hpp"
#include "transport/threads/shard.hpp"
#include "transport/time/timing_wheel.hpp"

namespace tagferry::gateway {

/// Lives on the shard of the PLCs; made and destroyed while it does not run.
class plant_physics {
  public:
    /// Fills both memories with the plant as it stands at the start. All three outlive this.
    plant_physics(transport::shard& owner, s7::plc_memory& press, s7::plc_memory& boiler);

    /// Begins to step on the shard, every 50 ms. On its thread, or before it starts.
    void start();

    /// What happens in so many seconds.
    void step(double seconds);

  private:
    void tick(transport::time_point now);
    void step_tank(double seconds);
    void step_ram(double seconds);
    void step_counters(double seconds);
    void step_steam(double seconds);
    void step_water(double seconds);
    void step_alarms();

    transport::shard& owner_;
    plant_memory press_;
    plant_memory boiler_;
    double time_ = 0;

    double oil_level_ = 900;       // mm
    double oil_temperature_ = 41;  // °C
    double pump_speed_ = 0;        // 1/min
    double stroke_ = 0;            // 0 to 1: down, press, up, wait
    double force_ = 0;             // kN
    double energy_ = 81'200;       // kWh
    double strokes_ = 412'806;
    double scrap_ = 37;
    double refills_ = 12;
    double cycle_time_ = 6;    // s
    double stroke_begun_ = 0;  // s
    bool inlet_open_ = false;

    double pressure_ = 8;      // bar
    double integral_ = 0;      // of the pressure controller, %
    double modulation_ = 55;   // %
    double burner_since_ = 0;  // s, when the burner went on
    double starts_ = 4'120;
    double steam_total_ = 120'400;  // kg
    double drum_level_ = 56;        // %
    double conductivity_ = 96;      // µS/cm
    double flue_gas_ = 134;         // °C
    double alarms_ = 0;
    bool burner_on_ = true;
    bool alarm_ = false;

    transport::member_timer<plant_physics, &plant_physics::tick> timer_{*this};
};

}  // namespace tagferry::gateway
