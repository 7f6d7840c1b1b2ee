// Values of a simulated PLC that move by themselves.
#pragma once

#include "protocols/s7/simulator/config.hpp"
#include "protocols/s7/simulator/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tagferry::s7 {

class signal_set {
  public:
    /// Throws std::invalid_argument when a signal does not fit its address, its memory does not
    /// exist, two signals share a byte (two bits of one byte may), or a period is not over 0.
    signal_set(std::vector<signal_config> signals, plc_memory& memory);

    /// Writes the values of all signals that touch [start, start + length) into the memory.
    void evaluate(area where, std::uint16_t block, std::uint32_t start, std::size_t length,
                  plc_memory& memory, transport::duration elapsed) noexcept;

    std::size_t size() const noexcept { return signals_.size(); }

  private:
    std::vector<signal_config> signals_;  // by area, block, byte, bit
    std::size_t longest_ = 1;             // bytes of the longest one
};

}  // namespace tagferry::s7
