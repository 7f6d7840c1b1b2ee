// The plant of the demo behaves like one, and as its set points ask.
#include "gateway/simulation/plant_physics.hpp"

#include "gateway/simulation/demo_plant.hpp"
#include "protocols/s7/simulator/plc.hpp"
#include "transport/threads/shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tagferry::gateway {
namespace {

class plant : public testing::Test {
  protected:
    /// Steps of 50 ms; `look` after each.
    void run(
        double seconds, const std::function<void()>& look = [] {}) {
        for (double passed = 0; passed < seconds; passed += 0.05) {
            physics_.step(0.05);
            look();
        }
    }

    transport::real_clock clock_;
    transport::shard shard_{{.name = "plant"}, clock_};
    s7::simulated_plc press_plc_{still_demo_plc(0), clock_};
    s7::simulated_plc boiler_plc_{still_demo_plc(1), clock_};
    plant_physics physics_{shard_, press_plc_.memory(), boiler_plc_.memory()};
    plant_memory press_{0, press_plc_.memory()};
    plant_memory boiler_{1, boiler_plc_.memory()};
};

TEST_F(plant, an_hour_stays_within_what_a_plant_does) {
    double lowest = 1e9;
    double highest = 0;
    double strokes = press_.get("ram/strokes");
    run(3'600, [&] {
        lowest = std::min(lowest, press_.get("tank/level"));
        highest = std::max(highest, press_.get("tank/level"));
        ASSERT_GE(press_.get("ram/strokes"), strokes);
        strokes = press_.get("ram/strokes");
        ASSERT_GT(boiler_.get("steam/pressure"), 6);
        ASSERT_LT(boiler_.get("steam/pressure"), 10);
        ASSERT_GT(boiler_.get("feed_water/level"), 40);
        ASSERT_LT(boiler_.get("feed_water/level"), 70);
        ASSERT_NE(boiler_.get("feed_water/pump_1"), boiler_.get("feed_water/pump_2"));
    });
    EXPECT_GT(lowest, 400);
    EXPECT_LT(highest, 1'850);
    EXPECT_GT(highest - lowest, 1'000) << "the tank fills and empties";
    EXPECT_NEAR(press_.get("counters/cycle_time"), 6, 0.2);
    EXPECT_EQ(press_.get("counters/good") + press_.get("counters/scrap"), strokes);
}

TEST_F(plant, the_ram_presses_as_hard_as_its_set_point_and_profile_say) {
    const auto hardest = [&] {
        double force = 0;
        run(12, [&] { force = std::max(force, press_.get("ram/force")); });
        return force;
    };
    run(10);
    EXPECT_NEAR(hardest(), 1'100, 40);
    press_.set("recipe/setpoint", 400);
    run(6);
    EXPECT_NEAR(hardest(), 400, 20);
    for (std::size_t i = 0; i < 10; ++i) {
        press_.set("recipe/profile", 50, i);
    }
    run(6);
    EXPECT_NEAR(hardest(), 200, 15);
}

TEST_F(plant, a_pump_that_may_not_run_comes_to_rest_and_the_ram_with_it) {
    run(10);
    EXPECT_GT(press_.get("pump/speed"), 2'900);
    press_.set("pump/enabled", 0);
    run(10);
    EXPECT_LT(press_.get("pump/speed"), 10);
    EXPECT_EQ(press_.get("pump/running"), 0);
    const double strokes = press_.get("ram/strokes");
    run(30);
    EXPECT_EQ(press_.get("ram/strokes"), strokes);
}

TEST_F(plant, the_boiler_follows_its_set_point_and_an_alarm_says_that_it_is_not_there_yet) {
    run(120);
    const double alarms = boiler_.get("alarms/count");
    boiler_.set("steam/setpoint", 5);
    run(1);
    EXPECT_EQ(boiler_.get("alarms/horn"), 1);
    EXPECT_EQ(boiler_.get("alarms/count"), alarms + 1);
    run(300);
    EXPECT_NEAR(boiler_.get("steam/pressure"), 5, 0.8);
    EXPECT_EQ(boiler_.get("alarms/horn"), 0);
}

TEST_F(plant, numbers_past_a_type_become_its_nearest) {
    press_.set("pump/speed", 1e6);
    EXPECT_EQ(press_.get("pump/speed"), 32'767);
    press_.set("pump/speed", -1e6);
    EXPECT_EQ(press_.get("pump/speed"), -32'768);
    press_.set("counters/scrap", -5);
    EXPECT_EQ(press_.get("counters/scrap"), 0);
}

}  // namespace
}  // namespace tagferry::gateway
