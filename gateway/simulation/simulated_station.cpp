#include "gateway/simulation/simulated_station.hpp"

#include "protocols/s7/simulator/server_engine.hpp"
#include "transport/threads/shard.hpp"

namespace tagferry::gateway {

namespace {

transport::listener_options options_of(const s7::simulator_config& config, std::uint16_t port,
                                       transport::traffic& counters) {
    transport::listener_options options;
    options.addresses.push_back(transport::parse_host("127.0.0.1", port).value());
    options.max_connections = config.max_connections;
    options.max_connections_per_address = config.max_connections;
    options.connection.counters = &counters;
    options.connection.reset_on_abort = true;
    return options;
}

}  // namespace

simulated_station::simulated_station(transport::shard& owner, const s7::simulator_config& config,
                                     std::uint16_t port, std::span<const s7::scripted_fault> script)
    : script_(script, owner.time_source().now()),
      plc_(config, owner.time_source(), &faults_, &owner.wheel()),
      listener_(owner, options_of(config, port, traffic_), *this),
      port_(listener_.bound().front().port) {}

void simulated_station::start() {
    listener_.start();
}

void simulated_station::stop() {
    listener_.stop();
}

void simulated_station::pull_cable() {
    faults_.refuse_connections(true);
    plc_.drop_connections();
}

void simulated_station::plug_cable_in() {
    faults_.refuse_connections(false);
}

std::unique_ptr<transport::engine> simulated_station::make_engine(
    const transport::peer_info& /*peer*/) {
    return std::make_unique<s7::server_engine>(plc_);
}

}  // namespace tagferry::gateway
