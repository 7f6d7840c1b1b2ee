// The malloc family of the process, counted. Linked into executables as an object; every call goes
// on to the next definition in search order, so that a counter loaded from outside sees it too.
// `operator new` of the standard library calls malloc and is counted there.

#include "transport/memory/operations.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

using tagferry::transport::count_allocation;

struct next_definitions {
    std::atomic<void* (*)(std::size_t)> malloc{nullptr};
    std::atomic<void* (*)(std::size_t, std::size_t)> calloc{nullptr};
    std::atomic<void* (*)(void*, std::size_t)> realloc{nullptr};
    std::atomic<void* (*)(std::size_t, std::size_t)> aligned_alloc{nullptr};
    std::atomic<int (*)(void**, std::size_t, std::size_t)> posix_memalign{nullptr};
    std::atomic<void* (*)(std::size_t, std::size_t)> memalign{nullptr};
    std::atomic<void* (*)(std::size_t)> valloc{nullptr};
    std::atomic<void* (*)(std::size_t)> pvalloc{nullptr};
    std::atomic<void (*)(void*)> free{nullptr};
};

constinit next_definitions next{};
constinit std::atomic<bool> resolved{false};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool resolving = false;

// dlsym may allocate while it looks for malloc. What it takes meanwhile comes from here and is
// never reused; each block is preceded by its size, for realloc.
constexpr std::size_t bootstrap_size = 16 * 1024;
constexpr std::size_t alignment = alignof(std::max_align_t);
alignas(alignment) constinit std::byte bootstrap[bootstrap_size]{};
constinit std::atomic<std::size_t> bootstrap_used{0};

void* take_bootstrap(std::size_t size) noexcept {
    if (size > bootstrap_size) {
        return nullptr;
    }
    const std::size_t taken = alignment + (size + alignment - 1) / alignment * alignment;
    const std::size_t start = bootstrap_used.fetch_add(taken, std::memory_order_relaxed);
    if (start + taken > bootstrap_size) {
        return nullptr;
    }
    std::memcpy(bootstrap + start, &size, sizeof size);
    return bootstrap + start + alignment;
}

bool is_bootstrap(const void* pointer) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto start = reinterpret_cast<std::uintptr_t>(bootstrap);
    return address - start < bootstrap_size;
}

std::size_t bootstrap_block_size(const void* pointer) noexcept {
    std::size_t size = 0;
    std::memcpy(&size, static_cast<const std::byte*>(pointer) - alignment, sizeof size);
    return size;
}

template <typename Function>
void resolve(std::atomic<Function>& into, const char* name) noexcept {
    into.store(reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name)), std::memory_order_relaxed);
}

// False only on a thread that is inside this function already. Two threads that come here at once
// both find the same definitions.
bool ready() noexcept {
    if (resolved.load(std::memory_order_acquire)) [[likely]] {
        return true;
    }
    if (resolving) {
        return false;
    }
    resolving = true;
    resolve(next.malloc, "malloc");
    resolve(next.calloc, "calloc");
    resolve(next.realloc, "realloc");
    resolve(next.aligned_alloc, "aligned_alloc");
    resolve(next.posix_memalign, "posix_memalign");
    resolve(next.memalign, "memalign");
    resolve(next.valloc, "valloc");
    resolve(next.pvalloc, "pvalloc");
    resolve(next.free, "free");
    resolved.store(true, std::memory_order_release);
    resolving = false;
    return true;
}

template <typename Function>
Function get(const std::atomic<Function>& from) noexcept {
    return from.load(std::memory_order_relaxed);
}

void* counted(void* pointer, std::size_t size) noexcept {
    if (pointer != nullptr) [[likely]] {
        count_allocation(size);
    }
    return pointer;
}

// Every realloc to a size is charged, whether or not the block could grow in place: what a caller
// does per operation must not depend on luck.
void* reallocate(void* old, std::size_t size) noexcept {
    if (!ready()) {
        return counted(take_bootstrap(size), size);
    }
    if (!is_bootstrap(old)) {
        void* const moved = get(next.realloc)(old, size);
        return size == 0 ? moved : counted(moved, size);
    }
    void* const moved = counted(get(next.malloc)(size), size);
    if (moved != nullptr) {
        std::memcpy(moved, old, std::min(size, bootstrap_block_size(old)));
    }
    return moved;
}

}  // namespace

extern "C" {

bool tagferry_malloc_interposed() noexcept;
bool tagferry_malloc_interposed() noexcept {
    return true;
}

void* malloc(std::size_t size) noexcept {
    return counted(ready() ? get(next.malloc)(size) : take_bootstrap(size), size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    if (ready()) [[likely]] {
        return counted(get(next.calloc)(count, size), count * size);
    }
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return nullptr;
    }
    return counted(take_bootstrap(bytes), bytes);
}

void* realloc(void* old, std::size_t size) noexcept {
    return reallocate(old, size);
}

void* reallocarray(void* old, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return reallocate(old, bytes);
}

void* aligned_alloc(std::size_t align, std::size_t size) noexcept {
    return ready() ? counted(get(next.aligned_alloc)(align, size), size) : nullptr;
}

int posix_memalign(void** into, std::size_t align, std::size_t size) noexcept {
    if (!ready()) {
        return ENOMEM;
    }
    const int error = get(next.posix_memalign)(into, align, size);
    if (error == 0) {
        count_allocation(size);
    }
    return error;
}

void* memalign(std::size_t align, std::size_t size) noexcept {
    return ready() ? counted(get(next.memalign)(align, size), size) : nullptr;
}

void* valloc(std::size_t size) noexcept {
    return ready() ? counted(get(next.valloc)(size), size) : nullptr;
}

void* pvalloc(std::size_t size) noexcept {
    return ready() ? counted(get(next.pvalloc)(size), size) : nullptr;
}

void free(void* pointer) noexcept {
    if (pointer == nullptr || is_bootstrap(pointer)) {
        return;
    }
    if (ready()) [[likely]] {
        get(next.free)(pointer);
    }
}

}  // extern "C"
