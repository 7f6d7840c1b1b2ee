#include "transport/memory/pinned_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>

namespace tagferry::transport {
namespace {

constexpr std::size_t slot_alignment = 64;
// Debug builds leave a strip behind each slot; whoever writes past the end of a slot spoils it.
constexpr std::size_t guard_size = debug_checks ? slot_alignment : 0;
constexpr std::byte poison{0xA5};

// All pools of the process, oldest first.
constinit std::mutex pools_mutex;
constinit pinned_pool* first_pool = nullptr;

std::size_t round_up(std::size_t size, std::size_t step) noexcept {
    return (size + step - 1) / step * step;
}

bool all_poison(const std::byte* from, std::size_t size) noexcept {
    return std::all_of(from, from + size, [](std::byte value) { return value == poison; });
}

void check_options(const pinned_pool_options& options) {
    constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / 2;
    if (options.slot_size == 0 || options.slot_count == 0 || options.slot_size > most ||
        options.slot_count > std::numeric_limits<std::uint32_t>::max() ||
        options.slot_count > most / (round_up(options.slot_size, slot_alignment) + guard_size)) {
        throw std::invalid_argument("pinned_pool: slot size or slot count out of range");
    }
}

std::error_code last_error() noexcept {
    return {errno, std::system_category()};
}

}  // namespace

pinned_pool::pinned_pool(const pinned_pool_options& options)
    : stride_((check_options(options), round_up(options.slot_size, slot_alignment) + guard_size)),
      slot_size_(options.slot_size),
      slot_count_(options.slot_count),
      free_count_(options.slot_count),
      free_slots_(std::make_unique<std::uint32_t[]>(options.slot_count)),
      name_(options.name),
      region_size_(
          round_up(stride_ * slot_count_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)))) {
    if constexpr (debug_checks) {
        generations_ = std::make_unique<std::uint32_t[]>(slot_count_);
    }
    // The slot rented first is the one at the front of the region.
    for (std::size_t index = 0; index < slot_count_; ++index) {
        free_slots_[index] = static_cast<std::uint32_t>(slot_count_ - 1 - index);
    }
    void* const region = ::mmap(nullptr, region_size_, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) {
        throw std::system_error(last_error(), "pinned_pool: cannot reserve memory");
    }
    region_ = static_cast<std::byte*>(region);
    if (::mlock2(region_, region_size_, MLOCK_ONFAULT) != 0) {
        lock_error_ = last_error();
    }
    if constexpr (debug_checks) {
        forbid_access(region_, region_size_);
    }
    const std::lock_guard lock(pools_mutex);
    pinned_pool** link = &first_pool;
    while (*link != nullptr) {
        link = &(*link)->next_pool_;
    }
    *link = this;
}

pinned_pool::~pinned_pool() {
    if (debug_checks && free_count_ != slot_count_) {
        die("pool destroyed while slots are rented", name_, slot_count_ - free_count_);
    }
    while (first_waiter_ != nullptr) {
        stop_waiting(*first_waiter_);
    }
    {
        const std::lock_guard lock(pools_mutex);
        pinned_pool** link = &first_pool;
        while (*link != this) {
            link = &(*link)->next_pool_;
        }
        *link = next_pool_;
    }
    allow_access(region_, region_size_);
    ::munmap(region_, region_size_);
}

void pinned_pool::wait(pool_waiter& waiter) noexcept {
    if (waiter.pool_ == this) {
        return;
    }
    if (waiter.pool_ != nullptr) {
        die("a waiter may wait in one pool only", name_, 0);
    }
    waiter.pool_ = this;
    waiter.previous_ = last_waiter_;
    waiter.next_ = nullptr;
    (last_waiter_ == nullptr ? first_waiter_ : last_waiter_->next_) = &waiter;
    last_waiter_ = &waiter;
}

void pinned_pool::stop_waiting(pool_waiter& waiter) noexcept {
    if (waiter.pool_ != this) {
        return;
    }
    (waiter.previous_ == nullptr ? first_waiter_ : waiter.previous_->next_) = waiter.next_;
    (waiter.next_ == nullptr ? last_waiter_ : waiter.next_->previous_) = waiter.previous_;
    waiter.pool_ = nullptr;
    waiter.previous_ = nullptr;
    waiter.next_ = nullptr;
}

// Whoever waits again while being told comes behind `last` and is told next time.
void pinned_pool::wake_waiters() noexcept {
    const pool_waiter* const last = last_waiter_;
    for (bool more = true; more && first_waiter_ != nullptr;) {
        pool_waiter& woken = *first_waiter_;
        more = &woken != last;
        stop_waiting(woken);
        woken.slot_returned();
    }
}

pool_statistics pinned_pool::statistics() const noexcept {
    return {.name = name_,
            .slot_size = slot_size_,
            .slot_count = slot_count_,
            .rents = rents_.load(std::memory_order_relaxed),
            .refusals = refusals_.load(std::memory_order_relaxed),
            .high_water = high_water_.load(std::memory_order_relaxed),
            .locked_bytes = locked() ? region_size_ : 0};
}

void pinned_pool::visit_all(void (*visit)(void*, const pool_statistics&), void* context) {
    const std::lock_guard lock(pools_mutex);
    for (const pinned_pool* pool = first_pool; pool != nullptr; pool = pool->next_pool_) {
        visit(context, pool->statistics());
    }
}

std::uint32_t pinned_pool::check_rented(std::uint32_t slot) noexcept {
    std::byte* const start = slot_address(slot);
    allow_access(start, stride_);
    const std::uint32_t generation = ++generations_[slot];
    // A slot rented for the first time was never poisoned: its pages may not even exist yet.
    if (generation > 1 && !all_poison(start, slot_size_)) {
        die("pool slot written after its return", name_, slot);
    }
    std::memset(start + slot_size_, std::to_integer<int>(poison), stride_ - slot_size_);
    forbid_access(start + slot_size_, stride_ - slot_size_);
    return generation;
}

void pinned_pool::check_returned(std::uint32_t slot, std::uint32_t generation) noexcept {
    if (generations_[slot] != generation) {
        die("pool slot returned twice", name_, slot);
    }
    ++generations_[slot];
    std::byte* const start = slot_address(slot);
    allow_access(start, stride_);
    if (!all_poison(start + slot_size_, stride_ - slot_size_)) {
        die("pool slot written past its end", name_, slot);
    }
    std::memset(start, std::to_integer<int>(poison), slot_size_);
    forbid_access(start, stride_);
}

}  // namespace tagferry::transport
