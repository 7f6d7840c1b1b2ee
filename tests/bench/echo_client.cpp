// Load for the echo servers: a number of connections, each sending a number of requests in one
// write and waiting for all their replies before the next write. The same program measures our
// server and the raw loop.
//
//   echo_client PORT SERVER_PID CONNECTIONS REQUESTS_PER_WRITE SIZE REQUESTS
//
// Prints one line: requests, seconds, requests per second, and the server's CPU nanoseconds per
// request (user and system, from the kernel's scheduler statistics).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct connection {
    int descriptor = -1;
    std::size_t received = 0;
};

struct load {
    std::uint16_t port = 0;
    std::string server_pid;
    std::size_t connections = 1;
    std::size_t requests_per_write = 1;
    std::size_t size = 64;
    std::uint64_t requests = 0;
};

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

/// Time on a CPU of all threads of the process, in nanoseconds.
std::uint64_t cpu_ns(const std::string& pid) {
    std::uint64_t sum = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
        std::ifstream statistics(task.path() / "schedstat");
        std::uint64_t running = 0;
        statistics >> running;
        sum += running;
    }
    return sum;
}

int connect_to(std::uint16_t port) {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const void* const generic = &where;
    if (connect(descriptor, static_cast<const sockaddr*>(generic), sizeof where) != 0) {
        fail("connect");
    }
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

/// `requests_per_write` frames: total size as a little-endian u32, then a pattern.
std::vector<char> make_burst(const load& wanted) {
    std::vector<char> burst(wanted.requests_per_write * wanted.size);
    for (std::size_t i = 0; i < burst.size(); ++i) {
        burst[i] = static_cast<char>(i * 7);
    }
    const auto size = static_cast<std::uint32_t>(wanted.size);
    for (std::size_t frame = 0; frame < burst.size(); frame += wanted.size) {
        std::memcpy(burst.data() + frame, &size, sizeof size);
    }
    return burst;
}

void send_burst(connection& to, const std::vector<char>& burst) {
    if (send(to.descriptor, burst.data(), burst.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(burst.size())) {
        fail("send");
    }
}

/// Runs until `bursts` bursts have been answered, and checks every byte of the answers.
void run(std::vector<connection>& connections, const std::vector<char>& burst,
         std::uint64_t bursts) {
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    std::uint64_t to_send = bursts;
    std::uint64_t to_receive = 0;
    for (auto& each : connections) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &each;
        epoll_ctl(poller, EPOLL_CTL_ADD, each.descriptor, &event);
        if (to_send != 0) {
            send_burst(each, burst);
            --to_send;
            ++to_receive;
        }
    }
    std::vector<epoll_event> events(connections.size());
    std::vector<char> answer(burst.size());
    while (to_receive != 0) {
        const int ready =
            epoll_wait(poller, events.data(), static_cast<int>(events.size()), 10'000);
        if (ready <= 0) {
            fail("epoll_wait");
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(ready); ++i) {
            auto& each = *static_cast<connection*>(events[i].data.ptr);
            const ssize_t got =
                recv(each.descriptor, answer.data(), burst.size() - each.received, 0);
            if (got <= 0 || std::memcmp(answer.data(), burst.data() + each.received,
                                        static_cast<std::size_t>(got)) != 0) {
                fail("recv");
            }
            each.received += static_cast<std::size_t>(got);
            if (each.received != burst.size()) {
                continue;
            }
            each.received = 0;
            --to_receive;
            if (to_send != 0) {
                send_burst(each, burst);
                --to_send;
                ++to_receive;
            }
        }
    }
    close(poller);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 7) {
        std::fputs("echo_client PORT SERVER_PID CONNECTIONS REQUESTS_PER_WRITE SIZE REQUESTS\n",
                   stderr);
        return 64;
    }
    load wanted;
    wanted.port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
    wanted.server_pid = arguments[2];
    wanted.connections = std::strtoull(arguments[3], nullptr, 10);
    wanted.requests_per_write = std::strtoull(arguments[4], nullptr, 10);
    wanted.size = std::strtoull(arguments[5], nullptr, 10);
    wanted.requests = std::strtoull(arguments[6], nullptr, 10);

    std::vector<connection> connections(wanted.connections);
    for (auto& each : connections) {
        each.descriptor = connect_to(wanted.port);
    }
    const auto burst = make_burst(wanted);
    const std::uint64_t bursts = wanted.requests / wanted.requests_per_write;
    run(connections, burst, bursts / 20 + 1);

    const std::uint64_t cpu_before = cpu_ns(wanted.server_pid);
    const auto began = std::chrono::steady_clock::now();
    run(connections, burst, bursts);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const std::uint64_t cpu = cpu_ns(wanted.server_pid) - cpu_before;

    const auto requests = static_cast<double>(bursts * wanted.requests_per_write);
    std::printf("%.0f requests %.3f s %.0f requests/s %.1f server_cpu_ns/request\n", requests,
                took.count(), requests / took.count(), static_cast<double>(cpu) / requests);
    for (auto& each : connections) {
        close(each.descriptor);
    }
}
