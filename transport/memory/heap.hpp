// How the process's heap is set up: nothing in steady state allocates, so it is kept small rather
// than quick.
#pragma once

namespace tagferry::transport {

/// One arena for all threads, blocks from 64 KiB on in pages of their own, which go back to the
/// system when they are freed, and no huge pages. Call it first in `main`.
void set_up_heap() noexcept;

/// Gives back to the system what is free in the heap: once everything has started, and after a
/// change of the configuration. Takes milliseconds; any thread.
void give_back_free_heap() noexcept;

/// Unmaps the pages of program code and constants that only the start needed; what is used again
/// comes back from the file, a minor fault each. Once, after the start.
void give_back_start_up_code() noexcept;

}  // namespace tagferry::transport
