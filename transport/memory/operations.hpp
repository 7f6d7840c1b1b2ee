// Who pays for an allocation. Every allocation on every thread is charged to one operation kind;
// the kinds sum to the process total. Which kinds exist is said by the rooms above: transport
// knows only `control` (start-up, connects, reconfiguration, management) and `other` (whatever
// runs outside any scope).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::transport {

/// An index into the process's table of operation kinds.
class operation_kind {
  public:
    constexpr explicit operation_kind(std::uint8_t index) noexcept : index_(index) {}
    constexpr std::uint8_t index() const noexcept { return index_; }
    friend constexpr bool operator==(operation_kind, operation_kind) = default;

  private:
    std::uint8_t index_;
};

inline constexpr std::size_t max_operation_kinds = 16;
inline constexpr operation_kind kind_other{0};
inline constexpr operation_kind kind_control{1};

/// The kind of this name, made if it does not exist yet; the same name always gives the same
/// kind. Meant for namespace-scope constants of the protocols, e.g.
/// `inline const operation_kind s7_read = register_operation_kind("s7_read");`
/// @param name a lower-case metric label of static storage. Aborts when the table is full.
operation_kind register_operation_kind(std::string_view name) noexcept;

/// Names of all kinds by index, `other` and `control` first. Static storage.
std::span<const std::string_view> operation_kind_names() noexcept;

/// Charges the allocations of this thread to a kind until destroyed; scopes nest and the
/// innermost one pays. A thread outside any scope pays to `other`.
class operation_scope {
  public:
    explicit operation_scope(operation_kind kind) noexcept;
    ~operation_scope();
    operation_scope(const operation_scope&) = delete;
    operation_scope& operator=(const operation_scope&) = delete;

  private:
    std::uint8_t previous_;
};

/// Counts one finished operation of `kind` and its duration. No lock, no allocation after the
/// thread's first call; callable from any thread.
void count_operation(operation_kind kind, std::chrono::nanoseconds elapsed) noexcept;

/// Charges one allocation of `size` bytes on this thread. Called by the interposed malloc family
/// and by every refill of a cache of ours. Async-signal-unsafe, allocation-free.
void count_allocation(std::size_t size) noexcept;

/// Upper bounds in seconds of `tagferry_operation_duration_seconds`; the last bucket, +Inf, is
/// implied.
inline constexpr std::array<double, 11> operation_duration_bounds_s = {
    1e-6, 5e-6, 2e-5, 1e-4, 5e-4, 2e-3, 1e-2, 5e-2, 0.2, 1.0, 5.0};

struct operation_totals {
    std::uint64_t operations = 0;
    std::uint64_t allocations = 0;
    std::uint64_t allocated_bytes = 0;
    double duration_sum_s = 0;
    /// By bucket, not cumulative; the last one is what exceeded every bound.
    std::array<std::uint64_t, operation_duration_bounds_s.size() + 1> duration_buckets{};
};

/// Sums over all threads that ever ran, by kind index. Values of running threads may be a moment
/// old; each is monotonic.
std::array<operation_totals, max_operation_kinds> operation_totals_now() noexcept;

/// Whether the malloc family of this process is interposed (false in sanitizer builds).
bool allocation_counting_enabled() noexcept;

}  // namespace tagferry::transport
