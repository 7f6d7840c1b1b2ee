#include "transport/memory/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace tagferry::transport {

void fill_random(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
        if (got < 0 && errno != EINTR) {
            throw std::system_error(errno, std::system_category(), "no random bytes");
        }
        bytes = bytes.subspan(got < 0 ? 0 : static_cast<std::size_t>(got));
    }
}

}  // namespace tagferry::transport
