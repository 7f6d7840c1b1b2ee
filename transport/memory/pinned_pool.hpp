// Fixed-size buffers in one page-locked region, rented and returned without atomics or malloc.
// A pool belongs to one shard thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::transport {

class pinned_pool;

/// One rented slot; returns it when destroyed. Move-only. Empty when default-made, moved from, or
/// when the pool had none left.
class pooled_buffer {
  public:
    pooled_buffer() noexcept = default;
    pooled_buffer(pooled_buffer&& other) noexcept;
    pooled_buffer& operator=(pooled_buffer&& other) noexcept;
    ~pooled_buffer();

    explicit operator bool() const noexcept { return pool_ != nullptr; }
    /// The whole slot, `pinned_pool::slot_size()` bytes. Empty for an empty handle.
    std::span<std::byte> bytes() const noexcept;
    /// Returns the slot now.
    void reset() noexcept;

  private:
    friend class pinned_pool;
    pinned_pool* pool_ = nullptr;
    std::uint32_t slot_ = 0;
    std::uint32_t generation_ = 0;
};

struct pinned_pool_options {
    std::string_view name;       ///< metric label, static storage, e.g. "opcua_response"
    std::size_t slot_size = 0;   ///< bytes usable in a slot, over 0
    std::size_t slot_count = 0;  ///< the hard cap, over 0
};

/// All slots lie in one region reserved at construction. Pages are locked on fault where the
/// process may (RLIMIT_MEMLOCK); where it may not, `locked()` is false and the pool works
/// unlocked. Every handle must be returned before the pool is destroyed.
class pinned_pool {
  public:
    /// Throws std::system_error when the region cannot be reserved, std::invalid_argument when an
    /// option is out of range.
    explicit pinned_pool(const pinned_pool_options& options);
    ~pinned_pool();
    pinned_pool(const pinned_pool&) = delete;
    pinned_pool& operator=(const pinned_pool&) = delete;

    /// A free slot, or an empty handle when all are out: back-pressure for the caller.
    pooled_buffer rent() noexcept;

    std::size_t slot_size() const noexcept;
    std::size_t slot_count() const noexcept;
    std::size_t free_count() const noexcept;
    bool locked() const noexcept;
};

}  // namespace tagferry::transport
