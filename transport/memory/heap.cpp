#include "transport/memory/heap.hpp"

#include <malloc.h>

namespace tagferry::transport {

void set_up_heap() noexcept {
    ::mallopt(M_ARENA_MAX, 1);
    // Setting it also keeps it from growing with the blocks that are freed.
    ::mallopt(M_MMAP_THRESHOLD, 64 * 1024);
}

void give_back_free_heap() noexcept {
    ::malloc_trim(0);
}

}  // namespace tagferry::transport
