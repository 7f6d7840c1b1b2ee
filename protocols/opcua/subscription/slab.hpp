// Records named by small numbers, up to a limit, in memory that is taken only as far as records
// were ever in use.
#pragma once

#include "transport/memory/reserved_region.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace tagferry::opcua {

/// `T` has a member `std::uint32_t next_free`, which is the slab's while the record is free.
/// Numbers go from 1 up; 0 is none. A freed record keeps what was in it; whoever takes it sets
/// what it needs.
template <typename T>
class slab {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    /// Reserves address space. Throws std::system_error when there is none.
    explicit slab(std::size_t capacity) : capacity_(capacity), memory_(capacity * sizeof(T)) {}

    /// A free record; 0 when all are taken or the system has no memory.
    std::uint32_t take() noexcept {
        if (first_free_ != 0) {
            const std::uint32_t taken = first_free_;
            first_free_ = (*this)[taken].next_free;
            ++used_;
            return taken;
        }
        if (made_ == capacity_ || !memory_.commit((made_ + 1) * sizeof(T))) {
            return 0;
        }
        new (memory_.data() + made_ * sizeof(T)) T{};
        ++used_;
        return static_cast<std::uint32_t>(++made_);
    }
    void give_back(std::uint32_t number) noexcept {
        (*this)[number].next_free = first_free_;
        first_free_ = number;
        --used_;
    }

    /// @param number of a record that was taken at least once.
    T& operator[](std::uint32_t number) noexcept {
        return *std::launder(reinterpret_cast<T*>(memory_.data()) + (number - 1));
    }
    const T& operator[](std::uint32_t number) const noexcept {
        return *std::launder(reinterpret_cast<const T*>(memory_.data()) + (number - 1));
    }
    /// Whether a record of this number was ever taken.
    bool has(std::uint32_t number) const noexcept { return number != 0 && number <= made_; }
    std::size_t used() const noexcept { return used_; }
    std::size_t capacity() const noexcept { return capacity_; }

  private:
    std::size_t capacity_;
    transport::reserved_region memory_;
    std::size_t made_ = 0;
    std::size_t used_ = 0;
    std::uint32_t first_free_ = 0;
};

}  // namespace tagferry::opcua
