// What the echo engine is measured against: the least a server on this kernel can do. One thread,
// level-triggered epoll_wait, one recv of what is there, one send of the same bytes. It knows no
// frames, no back-pressure and no deadlines.
//
// Prints its port and serves until it is killed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

int listen_on_loopback(std::uint16_t& port) {
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    void* const generic = &where;
    socklen_t size = sizeof where;
    if (bind(listening, static_cast<sockaddr*>(generic), size) != 0 || listen(listening, 64) != 0 ||
        getsockname(listening, static_cast<sockaddr*>(generic), &size) != 0) {
        fail("listen");
    }
    port = ntohs(where.sin_port);
    return listening;
}

void watch(int poller, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        fail("epoll_ctl");
    }
}

void admit(int poller, int listening) {
    const int accepted = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0) {
        return;
    }
    const int on = 1;
    setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(poller, accepted);
}

void echo(int descriptor) {
    static std::array<char, 8192> bytes;
    const ssize_t got = recv(descriptor, bytes.data(), bytes.size(), 0);
    if (got <= 0) {
        close(descriptor);
        return;
    }
    if (send(descriptor, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) {
        close(descriptor);
    }
}

}  // namespace

int main(int count, char** arguments) {
    auto port = static_cast<std::uint16_t>(count > 1 ? std::atoi(arguments[1]) : 0);
    const int listening = listen_on_loopback(port);
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    watch(poller, listening);
    std::printf("%u\n", static_cast<unsigned>(port));
    std::fflush(stdout);
    std::array<epoll_event, 128> events;
    for (;;) {
        const int ready = epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
            if (descriptor == listening) {
                admit(poller, listening);
            } else {
                echo(descriptor);
            }
        }
    }
}
