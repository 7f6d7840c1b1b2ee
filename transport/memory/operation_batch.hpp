// Counting operations that ended together.
#pragma once

#include "transport/memory/operations.hpp"

#include <chrono>
#include <cstdint>

namespace tagferry::transport {

/// As `count_operation` for each of `count` operations of one kind, each of which took `elapsed`.
void count_operations(operation_kind kind, std::uint64_t count,
                      std::chrono::nanoseconds elapsed) noexcept;

}  // namespace tagferry::transport
