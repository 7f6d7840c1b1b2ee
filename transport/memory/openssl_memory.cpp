#include "transport/memory/openssl_memory.hpp"

#include "transport/memory/check.hpp"
#include "transport/memory/operations.hpp"

#include <openssl/crypto.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>

// A block is a header and what OpenSSL sees behind it. Block sizes are 64, 96, 128, 192, 256, …:
// the powers of two and the middle between them, so that at most a third is wasted.

namespace tagferry::transport {
namespace {

constexpr std::size_t smallest_block = 64;
constexpr std::size_t largest_block = std::size_t{16} * 1024;
constexpr std::size_t class_count = 17;
constexpr std::uint32_t not_pooled = class_count;
// What a thread keeps of one class before it hands half of it to the shared set, and what one
// refill from malloc makes: about this many bytes, but at least two blocks.
constexpr std::size_t kept_bytes = std::size_t{16} * 1024;

struct alignas(16) block_header {
    std::uint32_t size_class;
    std::uint32_t unused;
    std::size_t usable_size;  // bytes behind the header
};
constexpr std::size_t header_size = sizeof(block_header);
static_assert(header_size == 16 && openssl_largest_pooled == largest_block - header_size);

struct free_block {
    free_block* next;
};

constexpr std::size_t block_size(std::size_t size_class) noexcept {
    const std::size_t power = smallest_block << (size_class / 2);
    return size_class % 2 == 0 ? power : power + power / 2;
}
static_assert(block_size(class_count - 1) == largest_block);

constexpr std::size_t batch_size(std::size_t size_class) noexcept {
    return std::max<std::size_t>(2, kept_bytes / 2 / block_size(size_class));
}

// @param size with its header, at most `largest_block`.
constexpr std::size_t class_of(std::size_t size) noexcept {
    if (size <= smallest_block) {
        return 0;
    }
    const auto width = static_cast<std::size_t>(std::bit_width(size - 1));
    const std::size_t upper = (width - 6) * 2;  // the class of 2^width
    return size <= block_size(upper - 1) ? upper - 1 : upper;
}

constexpr bool classes_fit() noexcept {
    for (std::size_t size = 1; size <= largest_block; ++size) {
        const std::size_t chosen = class_of(size);
        if (block_size(chosen) < size || (chosen > 0 && block_size(chosen - 1) >= size)) {
            return false;
        }
    }
    return true;
}
static_assert(classes_fit());

struct shared_list {
    std::mutex mutex;
    free_block* first = nullptr;
};
constinit std::array<shared_list, class_count> shared_lists{};

struct own_list {
    free_block* first = nullptr;
    std::size_t count = 0;
};

enum class attachment : std::uint8_t { none, attached, ended };

struct thread_lists {
    std::array<own_list, class_count> lists{};
    attachment attached = attachment::none;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_lists this_thread{};

constinit std::atomic<bool> installed{false};
constinit std::atomic<std::uint64_t> refills{0};
constinit std::atomic<std::uint64_t> large_blocks{0};
constinit std::atomic<std::uint64_t> reserved_bytes{0};

// Memory from malloc stays reachable through this list, which is what leak checkers ask for.
struct alignas(16) slab {
    slab* next;
};
constinit std::atomic<slab*> slabs{nullptr};

pthread_key_t exit_key;
pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
bool exit_key_made = false;

free_block* pop(own_list& list) noexcept {
    free_block* const block = list.first;
    allow_access(block, sizeof(free_block));
    list.first = block->next;
    --list.count;
    return block;
}

void push(own_list& list, free_block* block, std::size_t size) noexcept {
    block->next = list.first;
    list.first = block;
    ++list.count;
    forbid_access(block, size);
}

// Moves up to `count` blocks of the thread's list to the shared one.
void hand_back(std::size_t size_class, std::size_t count) noexcept {
    own_list& own = this_thread.lists[size_class];
    shared_list& shared = shared_lists[size_class];
    const std::lock_guard lock(shared.mutex);
    for (; count > 0 && own.first != nullptr; --count) {
        free_block* const block = pop(own);
        block->next = shared.first;
        shared.first = block;
        forbid_access(block, block_size(size_class));
    }
}

// Runs as the thread ends. OpenSSL's own clean-up of the thread may come after it: such blocks go
// to the shared set one by one.
void end_thread(void*) {
    this_thread.attached = attachment::ended;
    for (std::size_t size_class = 0; size_class < class_count; ++size_class) {
        hand_back(size_class, this_thread.lists[size_class].count);
    }
}

void make_exit_key() {
    exit_key_made = pthread_key_create(&exit_key, end_thread) == 0;
}

void attach_thread() noexcept {
    pthread_once(&exit_key_once, make_exit_key);
    const bool known = exit_key_made && pthread_setspecific(exit_key, &this_thread) == 0;
    this_thread.attached = known ? attachment::attached : attachment::ended;
}

bool take_from_shared(std::size_t size_class) noexcept {
    own_list& own = this_thread.lists[size_class];
    shared_list& shared = shared_lists[size_class];
    const std::lock_guard lock(shared.mutex);
    for (std::size_t count = batch_size(size_class); count > 0 && shared.first != nullptr;
         --count) {
        free_block* const block = shared.first;
        allow_access(block, sizeof(free_block));
        shared.first = block->next;
        push(own, block, block_size(size_class));
    }
    return own.first != nullptr;
}

bool take_from_malloc(std::size_t size_class) noexcept {
    const std::size_t size = block_size(size_class);
    const std::size_t bytes = sizeof(slab) + batch_size(size_class) * size;
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) {
        return false;
    }
    reserved_bytes.fetch_add(bytes, std::memory_order_relaxed);
    auto* const added = static_cast<slab*>(memory);
    added->next = slabs.load(std::memory_order_relaxed);
    while (!slabs.compare_exchange_weak(added->next, added, std::memory_order_release)) {
    }
    std::byte* const first = static_cast<std::byte*>(memory) + sizeof(slab);
    for (std::size_t index = 0; index < batch_size(size_class); ++index) {
        push(this_thread.lists[size_class], reinterpret_cast<free_block*>(first + index * size),
             size);
    }
    return true;
}

// An empty list is filled. It counts as one allocation either way: where malloc is interposed and
// was called, that call has counted itself.
bool refill(std::size_t size_class) noexcept {
    refills.fetch_add(1, std::memory_order_relaxed);
    const std::size_t bytes = batch_size(size_class) * block_size(size_class);
    if (take_from_shared(size_class)) {
        count_allocation(bytes);
        return true;
    }
    if (!allocation_counting_enabled()) {
        count_allocation(bytes);
    }
    return take_from_malloc(size_class);
}

void* behind(void* block, std::uint32_t size_class, std::size_t usable_size) noexcept {
    auto* const header = static_cast<block_header*>(block);
    header->size_class = size_class;
    header->usable_size = usable_size;
    return static_cast<std::byte*>(block) + header_size;
}

block_header* header_of(void* pointer) noexcept {
    return reinterpret_cast<block_header*>(static_cast<std::byte*>(pointer) - header_size);
}

void* take_large(std::size_t size) noexcept {
    if (size > SIZE_MAX - header_size) {
        return nullptr;
    }
    void* const block = std::malloc(size + header_size);
    if (block == nullptr) {
        return nullptr;
    }
    large_blocks.fetch_add(1, std::memory_order_relaxed);
    return behind(block, not_pooled, size);
}

void* take(std::size_t size) noexcept {
    if (size > openssl_largest_pooled) {
        return take_large(size);
    }
    const std::size_t size_class = class_of(size + header_size);
    if (this_thread.attached == attachment::none) {
        attach_thread();
    }
    own_list& own = this_thread.lists[size_class];
    if (own.first == nullptr && !refill(size_class)) {
        return nullptr;
    }
    free_block* const block = pop(own);
    if (this_thread.attached == attachment::ended) {
        hand_back(size_class, own.count);
    }
    allow_access(block, block_size(size_class));
    return behind(block, static_cast<std::uint32_t>(size_class),
                  block_size(size_class) - header_size);
}

void give_back(void* pointer) noexcept {
    block_header* const header = header_of(pointer);
    const std::size_t size_class = header->size_class;
    if (size_class == not_pooled) {
        std::free(header);
        return;
    }
    if (this_thread.attached == attachment::none) {
        attach_thread();
    }
    own_list& own = this_thread.lists[size_class];
    push(own, reinterpret_cast<free_block*>(header), block_size(size_class));
    if (this_thread.attached == attachment::ended) {
        hand_back(size_class, own.count);
    } else if (own.count > 2 * batch_size(size_class)) {
        hand_back(size_class, batch_size(size_class));
    }
}

// The three functions as OpenSSL calls them; file and line are of its own source. As in its own
// versions, a size of 0 gives null.
void* openssl_malloc(std::size_t size, const char*, int) {
    return size == 0 ? nullptr : take(size);
}

void openssl_free(void* pointer, const char*, int) {
    if (pointer != nullptr) {
        give_back(pointer);
    }
}

void* openssl_realloc(void* old, std::size_t size, const char* file, int line) {
    if (old == nullptr) {
        return openssl_malloc(size, file, line);
    }
    if (size == 0) {
        give_back(old);
        return nullptr;
    }
    const std::size_t had = header_of(old)->usable_size;
    if (size <= had && header_of(old)->size_class != not_pooled) {
        return old;
    }
    void* const moved = take(size);
    if (moved != nullptr) {
        std::memcpy(moved, old, std::min(had, size));
        give_back(old);
    }
    return moved;
}

}  // namespace

bool install_openssl_memory() noexcept {
    if (!installed.load(std::memory_order_acquire) &&
        CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free) == 1) {
        installed.store(true, std::memory_order_release);
    }
    return installed.load(std::memory_order_acquire);
}

openssl_memory_statistics openssl_memory_statistics_now() noexcept {
    return {.installed = installed.load(std::memory_order_acquire),
            .refills = refills.load(std::memory_order_relaxed),
            .large_blocks = large_blocks.load(std::memory_order_relaxed),
            .reserved_bytes = reserved_bytes.load(std::memory_order_relaxed)};
}

}  // namespace tagferry::transport
