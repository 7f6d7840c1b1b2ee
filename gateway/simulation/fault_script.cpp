#include "gateway/simulation/fault_script.hpp"

#include "transport/threads/shard.hpp"

namespace tagferry::gateway {

fault_script::fault_script(transport::shard& owner, simulated_station& station,
                           const fault_schedule& schedule, fault_listener& listener)
    : owner_(owner), station_(station), schedule_(schedule), listener_(listener) {}

void fault_script::start() {
    owner_.wheel().schedule(timer_, owner_.time_source().now() + schedule_.first);
}

void fault_script::turn_over(transport::time_point /*now*/) {
    pulled_ = !pulled_;
    if (pulled_) {
        station_.pull_cable();
        listener_.cable_pulled();
    } else {
        station_.plug_cable_in();
        listener_.cable_plugged_in();
    }
    const auto wait = pulled_ ? schedule_.length : schedule_.period - schedule_.length;
    owner_.wheel().schedule(timer_, timer_.due() + wait);
}

}  // namespace tagferry::gateway
