// Cuts the input of a fuzz target into records: what to do, how long the payload is, the payload.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua::test {

struct record {
    std::uint8_t what = 0;
    std::span<const std::byte> payload{};
};

class records {
  public:
    explicit records(std::span<const std::byte> input) : rest_(input) {}

    bool next(record& out) {
        if (rest_.size() < 3) {
            return false;
        }
        out.what = std::to_integer<std::uint8_t>(rest_[0]);
        const std::size_t length =
            std::to_integer<std::size_t>(rest_[1]) | std::to_integer<std::size_t>(rest_[2]) << 8U;
        rest_ = rest_.subspan(3);
        out.payload = rest_.first(std::min(length, rest_.size()));
        rest_ = rest_.subspan(out.payload.size());
        return true;
    }

  private:
    std::span<const std::byte> rest_;
};

}  // namespace tagferry::opcua::test
