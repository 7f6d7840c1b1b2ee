// Address space reserved once up to a limit, with memory behind it only as far as it is used, so
// that a table grows without ever moving.
#pragma once

#include <atomic>
#include <cstddef>

namespace tagferry::transport {

class reserved_region {
  public:
    /// Throws std::system_error when `bytes` of address space are not to be had.
    explicit reserved_region(std::size_t bytes);
    ~reserved_region();
    reserved_region(const reserved_region&) = delete;
    reserved_region& operator=(const reserved_region&) = delete;

    /// Makes at least the first `bytes` usable; new memory reads as zero. One thread at a time.
    /// False when that is past the reserved size or the system has no memory.
    bool commit(std::size_t bytes) noexcept;

    std::byte* data() const noexcept { return data_; }
    std::size_t reserved() const noexcept { return reserved_; }
    /// Bytes usable now, from the front. Any thread; only ever grows.
    std::size_t committed() const noexcept { return committed_.load(std::memory_order_acquire); }

  private:
    std::byte* data_ = nullptr;
    std::size_t reserved_ = 0;
    std::atomic<std::size_t> committed_{0};
};

}  // namespace tagferry::transport
