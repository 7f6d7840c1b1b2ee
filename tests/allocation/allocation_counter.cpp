// An LD_PRELOAD library that counts the malloc family of any process into a file. It shares no
// code with the product's own counting and judges it: it calls the C library's allocator by its
// internal names, where the product searches for the next definition.

#include "tests/allocation/counter_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* pointer);
}

namespace {

using tagferry::allocation::counter_page;
using counter = std::atomic<std::uint64_t>;

constexpr std::size_t file_size = 4096;

// Counts what happens before the file is there; its values are then taken along.
constinit counter_page early{};
constinit std::atomic<counter_page*> page{&early};

void add(counter& to, std::uint64_t value) {
    to.fetch_add(value, std::memory_order_relaxed);
}

void* count(counter counter_page::*kind, void* pointer, std::size_t size) {
    if (pointer != nullptr) {
        counter_page& counters = *page.load(std::memory_order_relaxed);
        add(counters.*kind, 1);
        add(counters.allocations, 1);
        add(counters.bytes, size);
    }
    return pointer;
}

void* count_aligned(std::size_t alignment, std::size_t size) {
    return count(&counter_page::aligned, __libc_memalign(alignment, size), size);
}

void* count_realloc(void* old, std::size_t size) {
    void* const moved = __libc_realloc(old, size);
    return size == 0 ? moved : count(&counter_page::reallocs, moved, size);
}

std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void take_along(counter_page& to) {
    add(to.mallocs, early.mallocs.load());
    add(to.callocs, early.callocs.load());
    add(to.reallocs, early.reallocs.load());
    add(to.aligned, early.aligned.load());
    add(to.allocations, early.allocations.load());
    add(to.bytes, early.bytes.load());
    add(to.frees, early.frees.load());
}

// Without the variable, or without the file, the library counts for nobody.
[[gnu::constructor]] void open_page() {
    const char* const path = std::getenv(tagferry::allocation::counter_file_variable);
    if (path == nullptr) {
        return;
    }
    const int file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || ::ftruncate(file, file_size) != 0) {
        return;
    }
    void* const mapped = ::mmap(nullptr, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (mapped == MAP_FAILED) {
        return;
    }
    auto* const shared = static_cast<counter_page*>(mapped);
    page.store(shared);
    take_along(*shared);
    shared->process_id = static_cast<std::uint64_t>(::getpid());
    shared->mark = counter_page::valid_mark;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
    return count(&counter_page::mallocs, __libc_malloc(size), size);
}

void* calloc(std::size_t number, std::size_t size) noexcept {
    return count(&counter_page::callocs, __libc_calloc(number, size), number * size);
}

void* realloc(void* old, std::size_t size) noexcept {
    return count_realloc(old, size);
}

void* reallocarray(void* old, std::size_t number, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(number, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return count_realloc(old, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return count_aligned(alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return count_aligned(alignment, size);
}

int posix_memalign(void** into, std::size_t alignment, std::size_t size) noexcept {
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
        return EINVAL;
    }
    void* const pointer = count_aligned(alignment, size);
    if (pointer == nullptr) {
        return ENOMEM;
    }
    *into = pointer;
    return 0;
}

void* valloc(std::size_t size) noexcept {
    return count_aligned(page_size(), size);
}

void* pvalloc(std::size_t size) noexcept {
    const std::size_t page_bytes = page_size();
    const std::size_t whole_pages = (size + page_bytes - 1) / page_bytes * page_bytes;
    return count(&counter_page::aligned, __libc_memalign(page_bytes, whole_pages), size);
}

void free(void* pointer) noexcept {
    if (pointer != nullptr) {
        add(page.load(std::memory_order_relaxed)->frees, 1);
        __libc_free(pointer);
    }
}

}  // extern "C"
