#include "transport/memory/heap.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace tagferry::transport {

void set_up_heap() noexcept {
    ::mallopt(M_ARENA_MAX, 1);
    // Setting it also keeps it from growing with the blocks that are freed.
    ::mallopt(M_MMAP_THRESHOLD, 64 * 1024);
    // Pools, rings and stacks are large and seldom used whole: where the kernel gives huge pages
    // unasked, the first write to each would cost 2 MiB.
    ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

void give_back_free_heap() noexcept {
    ::malloc_trim(0);
}

namespace {

// Segments that cannot be written are as they are in the file, so that nothing is lost.
int give_back_read_only(dl_phdr_info* object, std::size_t, void* page_size) {
    const std::uintptr_t mask = *static_cast<const std::uintptr_t*>(page_size) - 1;
    for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) {
            continue;
        }
        const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~mask;
        const std::uintptr_t end =
            (object->dlpi_addr + segment.p_vaddr + segment.p_memsz + mask) & ~mask;
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

void give_back_start_up_code() noexcept {
    auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    ::dl_iterate_phdr(give_back_read_only, &page_size);
}

}  // namespace tagferry::transport
