// In the place of the product's pool: every rent is a malloc, every return a free. The cap, the
// waiters and the counters stay, so that nothing else behaves differently.
#pragma once

#include "transport/memory/check.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace tagferry::transport {

class pinned_pool;

class pooled_buffer {
  public:
    pooled_buffer() noexcept = default;
    pooled_buffer(pooled_buffer&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), data_(other.data_) {}
    pooled_buffer& operator=(pooled_buffer&& other) noexcept {
        if (this != &other) {
            reset();
            pool_ = std::exchange(other.pool_, nullptr);
            data_ = other.data_;
        }
        return *this;
    }
    ~pooled_buffer() { reset(); }

    explicit operator bool() const noexcept { return pool_ != nullptr; }
    std::span<std::byte> bytes() const noexcept;
    void reset() noexcept;

  private:
    friend class pinned_pool;
    pinned_pool* pool_ = nullptr;
    std::byte* data_ = nullptr;
};

class pool_waiter {
  public:
    pool_waiter() noexcept = default;
    pool_waiter(const pool_waiter&) = delete;
    pool_waiter& operator=(const pool_waiter&) = delete;
    virtual void slot_returned() noexcept = 0;
    bool waiting() const noexcept { return pool_ != nullptr; }

  protected:
    virtual ~pool_waiter();

  private:
    friend class pinned_pool;
    pinned_pool* pool_ = nullptr;
    pool_waiter* previous_ = nullptr;
    pool_waiter* next_ = nullptr;
};

struct pinned_pool_options {
    std::string_view name;
    std::size_t slot_size = 0;
    std::size_t slot_count = 0;
};

struct pool_statistics {
    std::string_view name;
    std::size_t slot_size = 0;
    std::size_t slot_count = 0;
    std::uint64_t rents = 0;
    std::uint64_t refusals = 0;
    std::uint64_t high_water = 0;
    std::uint64_t locked_bytes = 0;
};

class pinned_pool {
  public:
    explicit pinned_pool(const pinned_pool_options& options) : options_(options) {}
    pinned_pool(const pinned_pool&) = delete;
    pinned_pool& operator=(const pinned_pool&) = delete;

    pooled_buffer rent() noexcept {
        pooled_buffer rented;
        if (out_ < options_.slot_count) {
            rented.data_ = static_cast<std::byte*>(std::malloc(options_.slot_size));
            if (rented.data_ != nullptr) {
                rented.pool_ = this;
                ++out_;
            }
        }
        return rented;
    }

    void wait(pool_waiter& waiter) noexcept;
    void stop_waiting(pool_waiter& waiter) noexcept;

    std::string_view name() const noexcept { return options_.name; }
    std::size_t slot_size() const noexcept { return options_.slot_size; }
    std::size_t slot_count() const noexcept { return options_.slot_count; }
    std::size_t free_count() const noexcept { return options_.slot_count - out_; }
    bool locked() const noexcept { return true; }
    std::error_code lock_error() const noexcept { return {}; }
    pool_statistics statistics() const noexcept { return {}; }

    template <typename Visit>
    static void for_each_statistics(Visit&&) {}

  private:
    friend class pooled_buffer;
    void give_back(std::byte* data) noexcept {
        std::free(data);
        --out_;
        if (first_waiter_ != nullptr) {
            wake_waiters();
        }
    }
    void wake_waiters() noexcept;

    pinned_pool_options options_;
    std::size_t out_ = 0;
    pool_waiter* first_waiter_ = nullptr;
    pool_waiter* last_waiter_ = nullptr;
};

inline std::span<std::byte> pooled_buffer::bytes() const noexcept {
    return pool_ == nullptr ? std::span<std::byte>{} : std::span{data_, pool_->slot_size()};
}

inline void pooled_buffer::reset() noexcept {
    if (pool_ != nullptr) {
        std::exchange(pool_, nullptr)->give_back(data_);
    }
}

inline pool_waiter::~pool_waiter() {
    if (pool_ != nullptr) {
        pool_->stop_waiting(*this);
    }
}

}  // namespace tagferry::transport
