// The file that the outer counter keeps up to date while its process runs. Any other process may
// read it at any time: eight-byte integers in the machine's byte order, one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tagferry::allocation {

/// Calls that gave memory. `allocations` is the sum of the four kinds below it.
struct counter_page {
    static constexpr std::uint64_t valid_mark = 0x31434C4C41464754;  // "TGFALLC1" as bytes

    std::uint64_t mark = 0;                     // offset 0: `valid_mark` once counting
    std::uint64_t process_id = 0;               // offset 8
    std::atomic<std::uint64_t> allocations{0};  // offset 16
    std::atomic<std::uint64_t> bytes{0};        // offset 24, as asked for
    std::atomic<std::uint64_t> mallocs{0};      // offset 32
    std::atomic<std::uint64_t> callocs{0};      // offset 40
    std::atomic<std::uint64_t> reallocs{0};     // offset 48, to a size over 0
    std::atomic<std::uint64_t> aligned{0};      // offset 56, all that take or imply an alignment
    std::atomic<std::uint64_t> frees{0};        // offset 64, of anything but null
};
static_assert(offsetof(counter_page, allocations) == 16);
static_assert(offsetof(counter_page, frees) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The environment variable that names the file.
inline constexpr const char* counter_file_variable = "TAGFERRY_ALLOCATION_COUNTER";

}  // namespace tagferry::allocation
