// The faults of the demo, shown unasked: now and then the cable of one PLC is out for a while.
#pragma once

#include "gateway/simulation/simulated_station.hpp"
#include "transport/time/timing_wheel.hpp"

namespace tagferry::gateway {

/// Seconds since the start of the demo.
struct fault_schedule {
    transport::duration first = std::chrono::seconds(20);
    transport::duration length = std::chrono::seconds(15);
    transport::duration period = std::chrono::seconds(90);  ///< from one fault to the next
};

/// Told on the shard of the simulated PLC.
class fault_listener {
  public:
    virtual void cable_pulled() = 0;
    virtual void cable_plugged_in() = 0;

  protected:
    ~fault_listener() = default;
};

/// Made and destroyed while the shard does not run.
class fault_script {
  public:
    /// @param station and @param listener outlive the script.
    fault_script(transport::shard& owner, simulated_station& station,
                 const fault_schedule& schedule, fault_listener& listener);

    /// Begins the schedule now. On the shard thread, or before the shard starts.
    void start();

  private:
    void turn_over(transport::time_point now);

    transport::shard& owner_;
    simulated_station& station_;
    fault_schedule schedule_;
    fault_listener& listener_;
    bool pulled_ = false;
    transport::member_timer<fault_script, &fault_script::turn_over> timer_{*this};
};

}  // namespace tagferry::gateway
