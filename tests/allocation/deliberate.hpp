// Allocations made on purpose, out of the optimiser's sight.
#pragma once

#include <cstddef>

namespace tagferry::allocation {

/// Looks harmless to its caller and makes one `new` and `delete` on the way.
std::size_t hidden_new(std::size_t value);

/// Keeps the compiler from proving that memory is unused and leaving the allocation out.
void use(void* pointer);

}  // namespace tagferry::allocation
