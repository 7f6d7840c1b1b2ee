// How a gate inside the measured process asks whether anything was allocated: by the product's own
// counters and, where the process runs under it, by the outer counter.
#pragma once

#include "tests/allocation/counter_page.hpp"
#include "transport/memory/operations.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace tagferry::allocation {

/// Allocations of the whole process, all threads and kinds, by the product's count.
inline std::uint64_t process_allocations() noexcept {
    std::uint64_t sum = 0;
    for (const transport::operation_totals& totals : transport::operation_totals_now()) {
        sum += totals.allocations;
    }
    return sum;
}

/// The outer counter's file of this process; absent when the library is not loaded.
class outer_counter {
  public:
    outer_counter() noexcept {
        const char* const path = std::getenv(counter_file_variable);
        const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) {
            return;
        }
        void* const mapped = ::mmap(nullptr, sizeof(counter_page), PROT_READ, MAP_SHARED, file, 0);
        ::close(file);
        if (mapped == MAP_FAILED) {
            return;
        }
        const auto* const page = static_cast<const counter_page*>(mapped);
        if (page->mark == counter_page::valid_mark &&
            page->process_id == static_cast<std::uint64_t>(::getpid())) {
            page_ = page;
        }
    }

    bool present() const noexcept { return page_ != nullptr; }
    std::uint64_t allocations() const noexcept {
        return page_ == nullptr ? 0 : page_->allocations.load(std::memory_order_relaxed);
    }

  private:
    const counter_page* page_ = nullptr;  // mapped for the rest of the process
};

/// What was allocated since it was made. Making and asking allocate nothing themselves.
class window {
  public:
    explicit window(const outer_counter& outer) noexcept
        : outer_(outer), start_(process_allocations()), outer_start_(outer.allocations()) {}

    struct result {
        std::uint64_t allocations = 0;
        bool outer_agrees = true;  ///< also true where there is no outer counter
    };
    result close() const noexcept {
        const std::uint64_t allocations = process_allocations() - start_;
        const std::uint64_t outer = outer_.allocations() - outer_start_;
        return {allocations, !outer_.present() || outer == allocations};
    }

  private:
    const outer_counter& outer_;
    std::uint64_t start_;
    std::uint64_t outer_start_;
};

}  // namespace tagferry::allocation
