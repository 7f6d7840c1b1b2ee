// One simulated PLC: memory, signals, faults, and what its connections have in common.
#pragma once

#include "protocols/s7/simulator/config.hpp"
#include "protocols/s7/simulator/faults.hpp"
#include "protocols/s7/simulator/memory.hpp"
#include "protocols/s7/simulator/observer.hpp"
#include "protocols/s7/simulator/profile.hpp"
#include "protocols/s7/simulator/signals.hpp"
#include "transport/engine.hpp"
#include "transport/time/timing_wheel.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tagferry::s7 {

class server_engine;

struct simulator_counters {
    std::uint64_t connections = 0;
    std::uint64_t connections_refused = 0;
    std::uint64_t jobs = 0;  ///< reads and writes that arrived
    std::uint64_t read_jobs = 0;
    std::uint64_t write_jobs = 0;
    std::uint64_t items_read = 0;
    std::uint64_t items_failed = 0;
    std::size_t most_in_flight = 0;  ///< jobs of one connection that waited at the same time
};

/// Owned by one shard; outlives its engines.
class simulated_plc {
  public:
    /// @param clock only `now()` is used.
    /// @param faults may be null: then there are none.
    /// @param wheel of the shard, for answers with a latency; without one they leave at the first
    ///   100 ms sweep after they are due. All three outlive the PLC.
    /// Throws std::invalid_argument, with the reason in words, for a configuration that makes no
    /// sense.
    simulated_plc(const simulator_config& config, const transport::clock& clock,
                  fault_hook* faults = nullptr, transport::timing_wheel* wheel = nullptr);
    ~simulated_plc();
    simulated_plc(const simulated_plc&) = delete;
    simulated_plc& operator=(const simulated_plc&) = delete;

    const plc_profile& profile() const noexcept { return profile_; }
    const simulator_config& config() const noexcept { return config_; }
    plc_memory& memory() noexcept { return memory_; }
    const simulator_counters& counters() const noexcept { return counters_; }
    /// Connections open now.
    std::size_t connection_count() const noexcept { return engines_.size(); }

    /// Who is told what jobs read and wrote; null: nobody. It outlives the PLC.
    void observe(simulator_observer* observer) noexcept { observer_ = observer; }

    /// Closes every connection at once, as a pulled cable or a switched-off CPU does.
    void drop_connections() noexcept;

    /// The item's bytes after its signals were evaluated, and what a PLC answers.
    std::span<const std::byte> read(const variable& item, item_code& code) noexcept;
    /// Writes `bytes`, whose number must be the item's size. A bit changes nothing beside it.
    item_code write(const variable& item, std::span<const std::byte> bytes) noexcept;

  private:
    friend class server_engine;
    std::span<std::byte> find(const variable& item, item_code& code) noexcept;
    void count(const s7_message& job) noexcept;
    void item_was_read(const variable& item, std::span<const std::byte> bytes);
    /// Since the PLC was made, time in STOP not counted: what signals go by.
    transport::duration time_in_run() noexcept;

    simulator_config config_;
    plc_profile profile_;
    const transport::clock& clock_;
    transport::time_point started_;
    fault_hook* faults_;
    simulator_observer* observer_ = nullptr;
    transport::timing_wheel* wheel_;
    plc_memory memory_;
    signal_set signals_;
    simulator_counters counters_;
    std::vector<server_engine*> engines_;
    std::byte bit_{};  // what `read` shows of a single bit
};

}  // namespace tagferry::s7
