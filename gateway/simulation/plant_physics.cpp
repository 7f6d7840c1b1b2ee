#include "gateway/simulation/plant_physics.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

namespace tagferry::gateway {

namespace {

constexpr transport::duration step_length = std::chrono::milliseconds(50);
constexpr double full_speed = 2'950;
constexpr double stroke_length = 480;
constexpr std::size_t profile_elements = 10;
/// What the press does after a start: the share of its force over the stroke, in percent.
constexpr double first_profile[profile_elements] = {20, 45, 70, 90, 100, 100, 95, 80, 55, 30};

/// One step of a value that follows another with a time constant.
void follow(double& value, double target, double seconds, double time_constant) {
    value += (target - value) * std::min(seconds / time_constant, 1.0);
}

double wave(double time, double period) {
    return std::sin(2 * std::numbers::pi * time / period);
}

/// 0 at the top, 1 at the work piece; `part` of the stroke from 0 to 1.
double ram_travel(double part) {
    const auto ease = [](double x) { return 0.5 - 0.5 * std::cos(std::numbers::pi * x); };
    if (part < 0.35) {
        return ease(part / 0.35);
    }
    if (part < 0.65) {
        return 1;
    }
    return part < 0.9 ? ease((0.9 - part) / 0.25) : 0;
}

}  // namespace

plant_physics::plant_physics(transport::shard& owner, s7::plc_memory& press, s7::plc_memory& boiler)
    : owner_(owner), press_(0, press), boiler_(1, boiler) {
    press_.set("pump/enabled", 1);
    press_.set("recipe/setpoint", 1'100);
    press_.set_text("recipe/name", "Gehäuse");
    for (std::size_t i = 0; i < profile_elements; ++i) {
        press_.set("recipe/profile", first_profile[i], i);
    }
    boiler_.set("steam/setpoint", 8);
    boiler_.set_text("alarms/last", "keine");
    step(0);
}

void plant_physics::start() {
    owner_.wheel().schedule(timer_, owner_.time_source().now() + step_length);
}

void plant_physics::tick(transport::time_point /*now*/) {
    step(std::chrono::duration<double>(step_length).count());
    owner_.wheel().schedule(timer_, timer_.due() + step_length);
}

void plant_physics::step(double seconds) {
    time_ += seconds;
    step_tank(seconds);
    step_ram(seconds);
    step_counters(seconds);
    step_steam(seconds);
    step_water(seconds);
    step_alarms();
}

/// The pump takes oil out of the tank; the inlet opens low and shuts high.
void plant_physics::step_tank(double seconds) {
    const bool running = press_.get("pump/enabled") != 0;
    follow(pump_speed_, running ? full_speed : 0, seconds, 1.2);
    const double drive = pump_speed_ / full_speed;
    if (!inlet_open_ && oil_level_ < 500) {
        inlet_open_ = true;
        ++refills_;
    } else if (oil_level_ > 1'700) {
        inlet_open_ = false;
    }
    oil_level_ += (inlet_open_ ? 70 * seconds : 0) - 30 * drive * seconds;
    follow(oil_temperature_, 36 + 10 * drive + force_ / 200, seconds, 60);
    press_.set("tank/level", oil_level_);
    press_.set("tank/temperature", oil_temperature_);
    press_.set("tank/inlet_open", inlet_open_ ? 1 : 0);
    press_.set("tank/outlet_open", drive > 0.05 ? 1 : 0);
    press_.set("tank/low_level", oil_level_ < 550 ? 1 : 0);
    press_.set("tank/refills", refills_);
    press_.set("pump/running", drive > 0.05 ? 1 : 0);
    press_.set("pump/fault", 0);
    press_.set("pump/speed", pump_speed_);
    press_.set("pump/current", 3.1 * drive + force_ / 160);
    press_.set("pump/hours", 18'211 + time_ / 3'600);
}

/// A stroke of six seconds while the pump brings pressure: down, press, up, wait.
void plant_physics::step_ram(double seconds) {
    if (pump_speed_ > 0.8 * full_speed) {
        stroke_ += seconds / 6;
    }
    if (stroke_ >= 1) {
        stroke_ -= 1;
        ++strokes_;
        scrap_ += std::fmod(strokes_, 16) == 0 ? 1 : 0;
        cycle_time_ = time_ - stroke_begun_;
        stroke_begun_ = time_;
    }
    double wanted = 0;
    if (stroke_ >= 0.35 && stroke_ < 0.65) {
        const auto element = static_cast<std::size_t>((stroke_ - 0.35) / 0.3 * profile_elements);
        const double share = press_.get("recipe/profile", std::min(element, profile_elements - 1));
        wanted = std::clamp(press_.get("recipe/setpoint"), 0.0, 1'500.0) *
                 std::clamp(share, 0.0, 100.0) / 100;
    }
    follow(force_, wanted, seconds, 0.1);
    const double travel = ram_travel(stroke_);
    press_.set("ram/position", stroke_length * travel);
    press_.set("ram/force", force_);
    press_.set("ram/strokes", strokes_);
    press_.set("ram/top_dead_centre", travel < 0.01 ? 1 : 0);
}

void plant_physics::step_counters(double seconds) {
    energy_ += press_.get("pump/current") * 0.69 * seconds / 3'600;
    press_.set("counters/good", strokes_ - scrap_);
    press_.set("counters/scrap", scrap_);
    press_.set("counters/cycle_time", cycle_time_);
    press_.set("counters/energy", energy_);
    const double bits = 1 + (pump_speed_ > 0.95 * full_speed ? 2 : 0) + (force_ > 10 ? 4 : 0) +
                        (inlet_open_ ? 8 : 0);
    press_.set("status/word", bits);
    press_.set("status/heartbeat", std::fmod(std::floor(2 * time_), 256));
    boiler_.set("status/heartbeat", std::fmod(std::floor(2 * time_), 256));
}

/// The burner holds the pressure against a demand that comes and goes.
void plant_physics::step_steam(double seconds) {
    const double setpoint = std::clamp(boiler_.get("steam/setpoint"), 2.0, 10.0);
    const double demand = 700 + 230 * wave(time_, 70) + 50 * wave(time_, 17);
    const double error = setpoint - pressure_;
    integral_ = std::clamp(integral_ + 4 * error * seconds, -60.0, 60.0);
    modulation_ = std::clamp(50 + 60 * error + integral_, 0.0, 100.0);
    const bool wanted = burner_on_ ? modulation_ > 5 : modulation_ > 25;
    if (wanted && !burner_on_) {
        ++starts_;
        burner_since_ = time_;
    }
    burner_on_ = wanted;
    const bool flame = burner_on_ && time_ - burner_since_ >= 2;
    const double made = flame || time_ < 2 ? 14 * modulation_ : 0;
    pressure_ = std::max(0.0, pressure_ + (made - demand) / 4'000 * seconds);
    steam_total_ += demand * seconds / 3'600;
    follow(flue_gas_, 112 + (burner_on_ ? 0.38 * modulation_ : 0), seconds, 20);
    boiler_.set("steam/pressure", pressure_);
    // Saturated steam between 1 and 12 bar, within a degree.
    boiler_.set("steam/temperature", 100 * std::pow(pressure_ + 1, 0.25));
    boiler_.set("steam/flow", demand);
    boiler_.set("steam/total", steam_total_);
    boiler_.set("burner/on", burner_on_ ? 1 : 0);
    boiler_.set("burner/flame", flame ? 1 : 0);
    boiler_.set("burner/lockout", 0);
    boiler_.set("burner/modulation", burner_on_ ? modulation_ : 0);
    boiler_.set("burner/starts", starts_);
    boiler_.set("flue_gas/temperature", flue_gas_);
    boiler_.set("flue_gas/oxygen", burner_on_ ? 5.3 - 0.025 * modulation_ : 20.9);
}

/// The feed valve holds the drum's level; the two pumps take turns of a minute.
void plant_physics::step_water(double seconds) {
    const double demand = boiler_.get("steam/flow");
    const double valve = std::clamp(41 + 9 * (56 - drum_level_), 0.0, 100.0);
    drum_level_ += (17 * valve - demand) / 900 * seconds;
    conductivity_ += conductivity_ > 130 ? -42 : 0.35 * seconds;
    const bool first = std::fmod(time_, 120) < 60;
    boiler_.set("feed_water/level", drum_level_);
    boiler_.set("feed_water/valve", valve);
    boiler_.set("feed_water/pump_1", first ? 1 : 0);
    boiler_.set("feed_water/pump_2", first ? 0 : 1);
    boiler_.set("feed_water/conductivity", conductivity_);
}

/// An alarm comes when the pressure is far from its set point, and goes by itself.
void plant_physics::step_alarms() {
    const double setpoint = boiler_.get("steam/setpoint");
    const bool low = pressure_ < setpoint - 0.8;
    const bool now = low || pressure_ > setpoint + 0.8;
    if (now && !alarm_) {
        ++alarms_;
        boiler_.set_text("alarms/last", low ? "Dampfdruck tief" : "Dampfdruck hoch");
    }
    alarm_ = now;
    boiler_.set("alarms/count", alarms_);
    boiler_.set("alarms/horn", alarm_ ? 1 : 0);
}

}  // namespace tagferry::gateway
