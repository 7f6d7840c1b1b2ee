// Memory for capacity that is fixed at the start and seldom used whole: its pages exist from the
// first write to them, so that a limit costs address space and what is in use costs memory.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace tagferry::transport {

/// A region of zero bytes, aligned to a page, in pages of its own. Move-only.
class zeroed_memory {
  public:
    zeroed_memory() noexcept = default;
    /// @param size bytes; 0 takes nothing. Throws std::system_error when the address space cannot
    ///   be had.
    explicit zeroed_memory(std::size_t size);
    ~zeroed_memory();
    zeroed_memory(zeroed_memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    zeroed_memory& operator=(zeroed_memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    std::byte* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// `count` elements of a plain type, all bytes zero, of which those that are written to cost
/// memory, in whole pages.
template <typename T>
class zeroed_array {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    zeroed_array() noexcept = default;
    /// Throws std::system_error when the address space cannot be had.
    explicit zeroed_array(std::size_t count) : memory_(count * sizeof(T)), count_(count) {}

    T* data() const noexcept { return reinterpret_cast<T*>(memory_.data()); }
    std::size_t size() const noexcept { return count_; }
    T& operator[](std::size_t index) const noexcept { return data()[index]; }
    T* begin() const noexcept { return data(); }
    T* end() const noexcept { return data() + count_; }

  private:
    zeroed_memory memory_;
    std::size_t count_ = 0;
};

}  // namespace tagferry::transport
