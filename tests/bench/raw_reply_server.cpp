// What the product is measured against: the least a server on this kernel can do with the same
// bytes. One thread, level-triggered epoll_wait, one recv of what is there, one send of as many
// answers as whole requests have arrived. It knows nothing of what it sends: a connection begins
// with the sizes of a request and of its answer (two little-endian u32) and one answer, recorded
// from the product.
//
// Prints its port and serves until it is killed.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t most_answers = 16;  // in one send

struct peer {
    std::size_t request_size = 0;
    std::size_t answer_size = 0;
    std::size_t received = 0;   // of requests not answered yet
    std::vector<char> answers;  // `most_answers` copies
};

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

int listen_on_loopback(std::uint16_t& port) {
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
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

void watch(int poller, int descriptor, void* as) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = as;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        fail("epoll_ctl");
    }
}

struct connection {
    int descriptor = -1;
    peer what;
};

void take_all(int descriptor, void* into, std::size_t size) {
    if (recv(descriptor, into, size, MSG_WAITALL) != static_cast<ssize_t>(size)) {
        fail("recv of the preamble");
    }
}

/// The preamble is read while the connection still blocks.
void admit(int poller, int listening) {
    const int accepted = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) {
        return;
    }
    const int on = 1;
    setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::array<std::uint32_t, 2> sizes{};
    take_all(accepted, sizes.data(), sizeof sizes);
    auto* const made = new connection{accepted, {sizes[0], sizes[1], 0, {}}};
    made->what.answers.resize(most_answers * sizes[1]);
    take_all(accepted, made->what.answers.data(), sizes[1]);
    for (std::size_t copy = 1; copy < most_answers; ++copy) {
        std::memcpy(made->what.answers.data() + copy * sizes[1], made->what.answers.data(),
                    sizes[1]);
    }
    watch(poller, accepted, made);
}

void answer(connection& from) {
    static std::array<char, 65'536> bytes;
    const ssize_t got = recv(from.descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) {
        close(from.descriptor);
        delete &from;
        return;
    }
    peer& what = from.what;
    what.received += static_cast<std::size_t>(got);
    const std::size_t whole = what.received / what.request_size;
    if (whole == 0) {
        return;
    }
    what.received -= whole * what.request_size;
    const std::size_t size = whole * what.answer_size;
    if (whole > most_answers || send(from.descriptor, what.answers.data(), size, MSG_NOSIGNAL) !=
                                    static_cast<ssize_t>(size)) {
        fail("send");
    }
}

}  // namespace

int main() {
    std::uint16_t port = 0;
    const int listening = listen_on_loopback(port);
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    watch(poller, listening, nullptr);
    std::printf("%u\n", static_cast<unsigned>(port));
    std::fflush(stdout);
    std::array<epoll_event, 128> events;
    for (;;) {
        const int ready = epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            auto* const from =
                static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
            if (from == nullptr) {
                admit(poller, listening);
            } else {
                answer(*from);
            }
        }
    }
}
