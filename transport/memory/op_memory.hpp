// Fixed memory for one chain of asynchronous operations. Asio frees an operation's memory before
// it calls the handler, so one block serves a chain in which each handler starts the next
// operation. Two operations that are outstanding together need a block each.
#pragma once

#include "transport/memory/check.hpp"

#include <boost/asio/bind_allocator.hpp>

#include <cstddef>
#include <utility>

namespace tagferry::transport {

/// One block of `Size` bytes, a member of whoever owns the chain. It must outlive every operation
/// that uses it, and is used by one thread at a time.
template <std::size_t Size>
class op_memory {
  public:
    op_memory() noexcept = default;
    op_memory(const op_memory&) = delete;
    op_memory& operator=(const op_memory&) = delete;

    /// True from the start of an operation until just before its handler runs.
    bool in_use() const noexcept { return in_use_; }

    /// The block. A second call before `give_back` is a bug of the owner and aborts in every
    /// build: the alternative is two operations writing into one another.
    void* take() noexcept {
        if (in_use_) {
            die("two operations at once in one op_memory", "block of bytes", Size);
        }
        in_use_ = true;
        return storage_;
    }
    void give_back() noexcept { in_use_ = false; }

  private:
    // Deliberately not initialised: each operation constructs itself here.
    alignas(std::max_align_t) std::byte storage_[Size];
    bool in_use_ = false;
};

/// Allocates single objects from one `op_memory`. Whether an operation fits is checked when the
/// program is compiled.
template <typename T, std::size_t Size>
class op_allocator {
  public:
    using value_type = T;
    template <typename U>
    struct rebind {
        using other = op_allocator<U, Size>;
    };

    explicit op_allocator(op_memory<Size>& memory) noexcept : memory_(&memory) {}
    template <typename U>
    op_allocator(const op_allocator<U, Size>& other) noexcept : memory_(other.memory_) {}

    T* allocate(std::size_t count) noexcept {
        static_assert(sizeof(T) <= Size, "the operation does not fit: enlarge its op_memory");
        static_assert(alignof(T) <= alignof(std::max_align_t));
        if (count != 1) {
            die("op_memory holds one object", "asked for", count);
        }
        return static_cast<T*>(memory_->take());
    }
    void deallocate(T*, std::size_t) noexcept { memory_->give_back(); }

    template <typename U>
    bool operator==(const op_allocator<U, Size>& other) const noexcept {
        return memory_ == other.memory_;
    }

  private:
    template <typename, std::size_t>
    friend class op_allocator;
    op_memory<Size>* memory_;
};

/// `handler` with `memory` as its associated allocator; its executor and cancellation slot stay
/// what they were. Use: `socket.async_read_some(buffer, bind_op_memory(read_memory_, handler))`.
template <std::size_t Size, typename Handler>
auto bind_op_memory(op_memory<Size>& memory, Handler&& handler) {
    return boost::asio::bind_allocator(op_allocator<std::byte, Size>{memory},
                                       std::forward<Handler>(handler));
}

}  // namespace tagferry::transport
