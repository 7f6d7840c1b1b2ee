// Load for the echo servers: a number of connections, each sending a number of requests in one
// write and waiting for all their replies before the next write. The same program measures our
// server and the raw loop, and takes turns between them every few milliseconds, so that whatever
// else the machine does hits both alike.
//
//   echo_client CONNECTIONS REQUESTS_PER_WRITE SIZE REQUESTS ROUNDS PORT:PID [PORT:PID]...
//
// Prints the medians over the rounds for each server: requests per second, the server's and the
// client's CPU time for a request (user and system), and each one's ratio to the first server's in
// the same round. With both ends on one core the rate is one over the sum of the two CPU times,
// which, unlike the elapsed time, does not count what other processes take.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
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
    std::size_t connections = 1;
    std::size_t requests_per_write = 1;
    std::size_t size = 64;
    std::uint64_t requests = 0;
    std::size_t rounds = 1;
};

/// What one request cost in one round.
struct cost {
    double elapsed_ns = 0;
    double server_ns = 0;
    double client_ns = 0;
    double both_ns() const { return server_ns + client_ns; }
};

struct target {
    std::uint16_t port = 0;
    std::string pid;
    std::vector<connection> connections;
    std::vector<cost> costs;
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

/// CPU time of this process, in nanoseconds.
double own_cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

cost measure(target& server, const std::vector<char>& burst, const load& wanted) {
    const std::uint64_t bursts = wanted.requests / wanted.requests_per_write;
    const auto requests = static_cast<double>(bursts * wanted.requests_per_write);
    const std::uint64_t server_before = cpu_ns(server.pid);
    const double client_before = own_cpu_ns();
    const auto began = std::chrono::steady_clock::now();
    run(server.connections, burst, bursts);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    const double client = own_cpu_ns() - client_before;
    const std::uint64_t cpu = cpu_ns(server.pid) - server_before;
    return {took.count() / requests, static_cast<double>(cpu) / requests, client / requests};
}

template <typename Value>
double median(const target& server, Value value) {
    std::vector<double> values;
    for (std::size_t round = 0; round < server.costs.size(); ++round) {
        values.push_back(value(round));
    }
    std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

void print(const target& server, const target& first) {
    const auto& own = server.costs;
    const auto& base = first.costs;
    const double rate = 1e9 / median(server, [&](auto i) { return own[i].elapsed_ns; });
    const double cpu = median(server, [&](auto i) { return own[i].server_ns; });
    const double client = median(server, [&](auto i) { return own[i].client_ns; });
    const double cpu_ratio =
        median(server, [&](auto i) { return own[i].server_ns / base[i].server_ns; });
    const double rate_ratio =
        median(server, [&](auto i) { return base[i].both_ns() / own[i].both_ns(); });
    std::printf(
        "port %u: %.0f requests/s, server %.0f ns, client %.0f ns; "
        "server cpu ratio %.3f, rate ratio %.3f\n",
        static_cast<unsigned>(server.port), rate, cpu, client, cpu_ratio, rate_ratio);
}

target parse_target(const std::string& text) {
    const auto colon = text.find(':');
    target result;
    result.port = static_cast<std::uint16_t>(std::stoi(text.substr(0, colon)));
    result.pid = text.substr(colon + 1);
    return result;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 7) {
        std::fputs("echo_client CONNECTIONS REQUESTS_PER_WRITE SIZE REQUESTS ROUNDS PORT:PID...\n",
                   stderr);
        return 64;
    }
    load wanted;
    wanted.connections = std::strtoull(arguments[1], nullptr, 10);
    wanted.requests_per_write = std::strtoull(arguments[2], nullptr, 10);
    wanted.size = std::strtoull(arguments[3], nullptr, 10);
    wanted.requests = std::strtoull(arguments[4], nullptr, 10);
    wanted.rounds = std::strtoull(arguments[5], nullptr, 10);

    const auto burst = make_burst(wanted);
    std::vector<target> servers;
    for (int i = 6; i < count; ++i) {
        servers.push_back(parse_target(arguments[i]));
        servers.back().connections.resize(wanted.connections);
        for (auto& each : servers.back().connections) {
            each.descriptor = connect_to(servers.back().port);
        }
        measure(servers.back(), burst, wanted);
    }
    for (std::size_t round = 0; round < wanted.rounds; ++round) {
        for (auto& each : servers) {
            each.costs.push_back(measure(each, burst, wanted));
        }
    }
    for (const auto& each : servers) {
        print(each, servers.front());
    }
}
