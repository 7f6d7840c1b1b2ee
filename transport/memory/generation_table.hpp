// Records that are named from outside by {index, generation}: pending operations, sessions,
// channels. A name that outlived its record finds nothing, never the record that came after it.
#pragma once

#include "transport/memory/completion_token.hpp"
#include "transport/memory/zeroed_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>

namespace tagferry::transport {

/// A fixed number of records of type T, each made when it is taken for the first time and reused
/// as it is: `take` does not reset one, its new owner assigns what it needs. Making a T must not
/// allocate: that would be paid by an operation, and must not throw. One thread at a time.
/// Memory is reserved at construction and used as records are; take, find and release cost the
/// same whatever the capacity.
template <typename T>
class generation_table {
  public:
    /// @param capacity records, 1 to 2^32 - 2. Throws std::invalid_argument outside that range,
    ///   std::system_error when the memory cannot be reserved.
    explicit generation_table(std::size_t capacity)
        : capacity_(checked(capacity)), memory_(capacity * sizeof(cell)) {}
    ~generation_table() { std::destroy_n(cells(), made_); }
    generation_table(const generation_table&) = delete;
    generation_table& operator=(const generation_table&) = delete;

    /// Takes a free record. False when all are taken; `token` is then unchanged. A token of
    /// generation 0 is never handed out, so a default-made token finds nothing.
    bool take(completion_token& token) noexcept {
        if (first_free_ == none && !make()) {
            return false;
        }
        cell& taken = cells()[first_free_];
        token.index = first_free_;
        first_free_ = taken.next_free;
        token.generation = ++taken.generation;
        ++taken_count_;
        return true;
    }

    /// The record of this name; null when it was released since, or never taken.
    T* find(completion_token token) noexcept {
        cell* const found = live(token);
        return found == nullptr ? nullptr : &found->record;
    }

    /// Frees the record of this name. False, and nothing happens, when the name is stale.
    bool release(completion_token token) noexcept {
        cell* const found = live(token);
        if (found == nullptr) {
            return false;
        }
        ++found->generation;
        found->next_free = first_free_;
        first_free_ = token.index;
        --taken_count_;
        return true;
    }

    /// Calls `visit(completion_token, T&)` for every taken record by index; `visit` may release
    /// the record it is shown.
    template <typename Visit>
    void for_each(Visit&& visit) {
        for (std::size_t index = 0; index < made_; ++index) {
            cell& each = cells()[index];
            if (is_taken(each)) {
                visit(completion_token{static_cast<std::uint32_t>(index), each.generation},
                      each.record);
            }
        }
    }

    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t size() const noexcept { return taken_count_; }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    // Odd generations are taken, even ones free, so a name fits only while its record is taken.
    struct cell {
        std::uint32_t generation = 0;
        std::uint32_t next_free = none;
        T record{};
    };

    static bool is_taken(const cell& candidate) noexcept {
        return (candidate.generation & 1U) != 0;
    }

    static std::size_t checked(std::size_t capacity) {
        if (capacity == 0 || capacity >= none) {
            throw std::invalid_argument("generation_table capacity must be 1 to 2^32 - 2");
        }
        return capacity;
    }

    cell* cells() const noexcept { return reinterpret_cast<cell*>(memory_.data()); }

    // One more record, free; false when there are all.
    bool make() noexcept {
        if (made_ == capacity_) {
            return false;
        }
        ::new (static_cast<void*>(cells() + made_)) cell;
        first_free_ = static_cast<std::uint32_t>(made_++);
        return true;
    }

    cell* live(completion_token token) noexcept {
        if (token.index >= made_) {
            return nullptr;
        }
        cell& named = cells()[token.index];
        return named.generation == token.generation && is_taken(named) ? &named : nullptr;
    }

    std::size_t capacity_;
    zeroed_memory memory_;
    std::size_t made_ = 0;
    std::uint32_t first_free_ = none;
    std::size_t taken_count_ = 0;
};

}  // namespace tagferry::transport
