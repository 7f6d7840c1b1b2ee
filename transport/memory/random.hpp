// Bytes that nobody can guess, straight from the kernel: a library's generator would bring in
// most of that library for them.
#pragma once

#include <cstddef>
#include <span>

namespace tagferry::transport {

/// Fills `bytes` from the kernel's generator; waits only in the first seconds after the machine
/// started. Any thread. Throws std::system_error where the kernel has no such call.
void fill_random(std::span<std::byte> bytes);

}  // namespace tagferry::transport
