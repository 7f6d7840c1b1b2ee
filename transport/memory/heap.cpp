#include "transport/memory/heap.hpp"

#include <malloc.h>
#include <sys/prctl.h>

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

}  // namespace tagferry::transport
