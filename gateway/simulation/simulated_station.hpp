// One simulated PLC on a loopback port: memory and signals of protocols/s7/simulator behind a
// listener of transport/net. Serves `tagferry sim` and `tagferry demo`.
#pragma once

#include "protocols/s7/simulator/fault_script.hpp"
#include "protocols/s7/simulator/plc.hpp"
#include "transport/net/listener.hpp"
#include "transport/net/traffic.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tagferry::gateway {

/// Lives on one shard; made and destroyed while the shard does not run, other calls on its thread
/// unless said otherwise.
class simulated_station final : public transport::engine_factory {
  public:
    /// Listens at once. Throws std::invalid_argument for a configuration that makes no sense and
    /// std::system_error when the port cannot be had; both say what.
    /// @param port on 127.0.0.1; 0 takes any free one.
    /// @param script of faults; its time begins now.
    simulated_station(transport::shard& owner, const s7::simulator_config& config,
                      std::uint16_t port, std::span<const s7::scripted_fault> script = {});

    void start();
    void stop();

    /// The port listened on. Any thread.
    std::uint16_t port() const noexcept { return port_; }
    /// `127.0.0.1:PORT`. Any thread.
    std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

    /// Every connection breaks and none is accepted, as when the network cable is out.
    void pull_cable();
    void plug_cable_in();

    s7::simulated_plc& plc() noexcept { return plc_; }
    const s7::scripted_faults& script() const noexcept { return script_; }

  private:
    std::unique_ptr<transport::engine> make_engine(const transport::peer_info& peer) override;

    s7::scripted_faults script_;
    s7::manual_faults faults_{&script_};
    s7::simulated_plc plc_;
    transport::traffic traffic_{"s7_simulator"};
    transport::listener listener_;
    std::uint16_t port_;
};

}  // namespace tagferry::gateway
