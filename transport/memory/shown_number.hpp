// A number that one thread changes and that any thread may read at any time: what the metrics page
// shows.
#pragma once

#include <atomic>
#include <cstdint>

namespace tagferry::transport {

/// No read-modify-write instruction: the single writer makes a load and a store enough. What a
/// reader sees may be a moment old.
class shown_number {
  public:
    void add(std::uint64_t amount) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    void subtract(std::uint64_t amount) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) - amount, std::memory_order_relaxed);
    }
    void raise_to(std::uint64_t candidate) noexcept {
        if (candidate > value_.load(std::memory_order_relaxed)) {
            value_.store(candidate, std::memory_order_relaxed);
        }
    }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

}  // namespace tagferry::transport
