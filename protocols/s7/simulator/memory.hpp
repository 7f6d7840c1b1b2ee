// The memory of a simulated PLC: data blocks, inputs, outputs, memory bits.
#pragma once

#include "protocols/s7/wire/variables.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tagferry::s7 {

class plc_memory {
  public:
    /// Makes or resizes an area, zeroed; data blocks by number, other areas with block 0.
    void define(area where, std::uint16_t block, std::size_t size);
    /// Removes a data block, as a download without it would.
    void remove(std::uint16_t block);

    /// Bytes of a request item within their area. `code` is what a PLC answers: success,
    /// object_missing for a block that does not exist, out_of_range, not_supported for a bit
    /// count other than 1 or an unknown area or type. Empty unless success.
    std::span<std::byte> find(const variable& item, item_code& code) noexcept;

    /// Numbers of the data blocks there are, in ascending order.
    std::vector<std::uint16_t> data_blocks() const;

    /// The whole area; empty when there is none.
    std::span<std::byte> bytes(area where, std::uint16_t block) noexcept;

  private:
    std::map<std::uint32_t, std::vector<std::byte>> areas_;  // by area code << 16 | block
};

}  // namespace tagferry::s7
