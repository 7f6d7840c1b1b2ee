#include "transport/memory/check.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace tagferry::transport {

void die(std::string_view what, std::string_view name, std::uint64_t number) noexcept {
    std::array<char, 256> line;
    const int length =
        std::snprintf(line.data(), line.size(), "tagferry: %.*s, %.*s %llu\n",
                      static_cast<int>(what.size()), what.data(), static_cast<int>(name.size()),
                      name.data(), static_cast<unsigned long long>(number));
    if (length > 0) {
        const auto size = static_cast<std::size_t>(length);
        [[maybe_unused]] const auto ignored =
            ::write(STDERR_FILENO, line.data(), size < line.size() ? size : line.size() - 1);
    }
    std::abort();
}

}  // namespace tagferry::transport
