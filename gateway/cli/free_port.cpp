#include "gateway/cli/free_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tagferry::gateway::cli {

namespace {

bool is_free(std::uint16_t port) noexcept {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) {
        return false;
    }
    // As listeners have it: connections that ended do not hold a port.
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const void* const where = &address;
    const bool free = ::bind(socket, static_cast<const sockaddr*>(where), sizeof address) == 0 &&
                      ::listen(socket, 1) == 0;
    ::close(socket);
    return free;
}

}  // namespace

std::uint16_t next_free_port(std::uint16_t first, std::uint16_t together) noexcept {
    constexpr std::uint16_t tries = 100;
    for (std::uint16_t offset = 0; offset < tries; ++offset) {
        const auto port = static_cast<std::uint16_t>(first + offset);
        std::uint16_t free = 0;
        while (free < together && is_free(static_cast<std::uint16_t>(port + free))) {
            ++free;
        }
        if (free == together) {
            return port;
        }
    }
    return first;
}

}  // namespace tagferry::gateway::cli
