// OpenSSL's memory through a pool of ours: even a reused HMAC context allocates twice per message,
// so without this no signed message could be free of malloc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagferry::transport {

/// Makes OpenSSL take its memory from size-classed lists: one set per thread without locks,
/// handing surplus to a shared set in bounded batches. Memory may be freed on another thread than
/// it was taken on. Blocks over `openssl_largest_pooled` bytes go to malloc.
///
/// Call it first thing in `main`, before anything touches OpenSSL: false when OpenSSL has already
/// allocated, and then nothing is changed. Calling it again is harmless. Memory once pooled stays
/// with the process.
bool install_openssl_memory() noexcept;

inline constexpr std::size_t openssl_largest_pooled = std::size_t{16} * 1024 - 16;

struct openssl_memory_statistics {
    bool installed = false;
    /// Times a thread's list was empty and was refilled, from the shared set or by malloc. Each
    /// counts as an allocation of the operation that ran (`count_allocation`).
    std::uint64_t refills = 0;
    std::uint64_t large_blocks = 0;    ///< requests that went to malloc because of their size
    std::uint64_t reserved_bytes = 0;  ///< taken from malloc for pooled blocks and kept
};

/// Any thread; each value is monotonic.
openssl_memory_statistics openssl_memory_statistics_now() noexcept;

}  // namespace tagferry::transport
