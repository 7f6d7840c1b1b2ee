// Two or more servers under the same load in alternating rounds of a few milliseconds, so that
// whatever else the machine does hits all alike; with everything on one core.
#pragma once

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
#include <functional>
#include <string>
#include <vector>

namespace tagferry::bench {

[[noreturn]] inline void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

/// Time on a CPU of all threads of the process, user and system, in nanoseconds.
inline double cpu_ns(const std::string& pid) {
    std::uint64_t sum = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
        std::ifstream statistics(task.path() / "schedstat");
        std::uint64_t running = 0;
        statistics >> running;
        sum += running;
    }
    return static_cast<double>(sum);
}

/// The same of this process.
inline double own_cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// One connection: `burst` is sent in one write, then `answer_bytes` are awaited. `renew` gives
/// the burst its next sequence numbers.
struct connection {
    int descriptor = -1;
    std::vector<std::byte> burst{};
    std::size_t requests = 1;      ///< in a burst
    std::size_t answer_bytes = 0;  ///< to a burst
    std::function<void(std::vector<std::byte>&)> renew{};
    std::size_t received = 0;
    std::chrono::steady_clock::time_point sent{};
};

/// What one request cost in one round.
struct cost {
    double elapsed_ns = 0;
    double server_ns = 0;
    double client_ns = 0;
    double both_ns() const { return server_ns + client_ns; }
};

struct target {
    std::string pid;
    std::vector<connection> connections{};
    std::vector<cost> costs{};
    std::vector<double> latencies_ns{};  ///< of bursts
};

inline void send_burst(connection& to) {
    if (to.renew) {
        to.renew(to.burst);
    }
    to.sent = std::chrono::steady_clock::now();
    if (send(to.descriptor, to.burst.data(), to.burst.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(to.burst.size())) {
        fail("send");
    }
}

class round_runner {
  public:
    round_runner(target& server, std::size_t bursts) : server_(server), to_send_(bursts) {}

    /// Runs until all bursts have been answered whole.
    void run() {
        poller_ = epoll_create1(EPOLL_CLOEXEC);
        for (connection& each : server_.connections) {
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.ptr = &each;
            epoll_ctl(poller_, EPOLL_CTL_ADD, each.descriptor, &event);
            send_next(each);
        }
        std::vector<epoll_event> events(server_.connections.size());
        while (to_receive_ != 0) {
            const int ready =
                epoll_wait(poller_, events.data(), static_cast<int>(events.size()), 10'000);
            if (ready <= 0) {
                fail("no answer");
            }
            for (std::size_t i = 0; i < static_cast<std::size_t>(ready); ++i) {
                receive(*static_cast<connection*>(events[i].data.ptr));
            }
        }
        close(poller_);
    }

  private:
    void send_next(connection& to) {
        if (to_send_ != 0) {
            --to_send_;
            ++to_receive_;
            send_burst(to);
        }
    }
    void receive(connection& from) {
        const ssize_t got = recv(from.descriptor, answer_.data(), answer_.size(), 0);
        if (got <= 0) {
            fail("recv");
        }
        from.received += static_cast<std::size_t>(got);
        if (from.received < from.answer_bytes) {
            return;
        }
        if (from.received > from.answer_bytes) {
            std::fprintf(stderr, "%zu bytes instead of %zu\n", from.received, from.answer_bytes);
            std::exit(1);
        }
        const auto took = std::chrono::steady_clock::now() - from.sent;
        server_.latencies_ns.push_back(std::chrono::duration<double, std::nano>(took).count());
        from.received = 0;
        --to_receive_;
        send_next(from);
    }

    target& server_;
    std::size_t to_send_;
    std::size_t to_receive_ = 0;
    int poller_ = -1;
    std::vector<std::byte> answer_ = std::vector<std::byte>(std::size_t{1} << 18U);
};

/// One round of `bursts` bursts; its cost for one request.
inline cost measure(target& server, std::size_t bursts) {
    const auto requests = static_cast<double>(bursts * server.connections.front().requests);
    const double server_before = cpu_ns(server.pid);
    const double client_before = own_cpu_ns();
    const auto began = std::chrono::steady_clock::now();
    round_runner(server, bursts).run();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    const double client = own_cpu_ns() - client_before;
    const double cpu = cpu_ns(server.pid) - server_before;
    return {took.count() / requests, cpu / requests, client / requests};
}

/// Rounds in turn, after one of each that warms up.
inline void run_rounds(std::vector<target*> servers, std::size_t rounds, std::size_t bursts) {
    for (target* each : servers) {
        measure(*each, bursts);
        each->costs.clear();
        each->latencies_ns.clear();
    }
    for (std::size_t round = 0; round < rounds; ++round) {
        for (target* each : servers) {
            each->costs.push_back(measure(*each, bursts));
        }
    }
}

inline double quantile(std::vector<double> values, double which) {
    const auto at = static_cast<std::size_t>(which * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at),
                     values.end());
    return values[at];
}

/// Median over the rounds of `value(cost of `server`, cost of `other` in the same round)`.
template <typename Value>
double median(const target& server, const target& other, Value value) {
    std::vector<double> values;
    for (std::size_t round = 0; round < server.costs.size(); ++round) {
        values.push_back(value(server.costs[round], other.costs[round]));
    }
    return quantile(std::move(values), 0.5);
}

}  // namespace tagferry::bench
