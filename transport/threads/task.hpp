// What crosses threads.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tagferry::transport {

/// A function pointer and plain values: copied into a ring, never allocated. `object` must stay
/// alive until the task has run or its shard has been joined.
struct task {
    void (*run)(void* object, std::uint64_t a, std::uint64_t b) = nullptr;
    void* object = nullptr;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
};

static_assert(std::is_trivially_copyable_v<task>);

}  // namespace tagferry::transport
