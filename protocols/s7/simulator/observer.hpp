// What a simulated PLC tells those who check what others made of it.
#pragma once

#include "protocols/s7/wire/variables.hpp"
#include "transport/time/clock.hpp"

#include <cstddef>
#include <span>

namespace tagferry::s7 {

/// Called on the PLC's shard, in the order in which jobs are carried out.
class simulator_observer {
  public:
    /// An item was read, and its answer made; whether it arrives is the faults' affair.
    virtual void item_read(const variable& item, std::span<const std::byte> bytes,
                           transport::time_point now) = 0;
    /// An item was written to the memory: those that failed are not told.
    virtual void item_written(const variable& item, std::span<const std::byte> bytes,
                              transport::time_point now) = 0;

  protected:
    ~simulator_observer() = default;
};

}  // namespace tagferry::s7
