#include "transport/memory/zeroed_memory.hpp"

#include "transport/memory/check.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

namespace tagferry::transport {

// AddressSanitizer sees neither the ends of such a region nor pointers in it, so there it comes
// from the heap.
zeroed_memory::zeroed_memory(std::size_t size) : size_(size) {
    if (size == 0) {
        return;
    }
#ifdef TAGFERRY_ADDRESS_SANITIZER
    void* const region = std::calloc(1, size);
    if (region == nullptr) {
        throw std::bad_alloc();
    }
#else
    void* const region = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) {
        throw std::system_error(errno, std::system_category(), "cannot reserve memory");
    }
#endif
    data_ = static_cast<std::byte*>(region);
}

zeroed_memory::~zeroed_memory() {
    if (data_ == nullptr) {
        return;
    }
#ifdef TAGFERRY_ADDRESS_SANITIZER
    std::free(data_);
#else
    ::munmap(data_, size_);
#endif
}

}  // namespace tagferry::transport
