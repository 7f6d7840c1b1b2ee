#include "tests/allocation/deliberate.hpp"

#include <memory>

namespace tagferry::allocation {
namespace {

std::size_t innermost(std::size_t value) {
    const auto copy = std::make_unique<std::size_t>(value);
    use(copy.get());
    return *copy;
}

}  // namespace

std::size_t hidden_new(std::size_t value) {
    return innermost(value) + 1;
}

void use(void* pointer) {
    asm volatile("" : : "r"(pointer) : "memory");
}

}  // namespace tagferry::allocation
