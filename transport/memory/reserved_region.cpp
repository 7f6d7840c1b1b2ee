#include "transport/memory/reserved_region.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace tagferry::transport {
namespace {

/// Memory is committed in steps of this many bytes: one system call for a thousand records.
constexpr std::size_t commit_step = 64 * 1024;

std::size_t whole_steps(std::size_t bytes) noexcept {
    return (bytes + commit_step - 1) / commit_step * commit_step;
}

}  // namespace

reserved_region::reserved_region(std::size_t bytes)
    : reserved_(whole_steps(std::max(bytes, commit_step))) {
    void* const address =
        mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(),
                                "cannot reserve address space");
    }
    data_ = static_cast<std::byte*>(address);
}

reserved_region::~reserved_region() {
    munmap(data_, reserved_);
}

bool reserved_region::commit(std::size_t bytes) noexcept {
    const std::size_t present = committed_.load(std::memory_order_relaxed);
    if (bytes <= present) {
        return true;
    }
    const std::size_t wanted = whole_steps(bytes);
    if (bytes > reserved_ ||
        mprotect(data_ + present, wanted - present, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    committed_.store(wanted, std::memory_order_release);
    return true;
}

}  // namespace tagferry::transport
