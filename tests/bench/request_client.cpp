// The load of tests/bench/requests.sh: the product against a raw loop that moves the same bytes.
//
//   request_client SCENARIO ROUNDS OPCUA_PORT HTTP_PORT PID RAW_PORT RAW_PID
//
// Scenarios: read1 read1x8 read1x20 read100 read100_registered get connect. Prints the medians
// over the rounds of what a request costs both servers and their ratios. The tags are those of
// requests.sh: plant/static/t0 to t999.
#include "tests/bench/http_load.hpp"
#include "tests/bench/opcua_load.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <string_view>

namespace tagferry::bench {
namespace {

struct places {
    std::uint16_t opcua = 0;
    std::uint16_t http = 0;
    std::string pid;
    std::uint16_t raw = 0;
    std::string raw_pid;
    std::size_t rounds = 1;
};

/// The same load on the raw server: it learns the answer, then sees the same requests.
connection mirror(const connection& of, const bytes& answer, std::uint16_t raw_port) {
    connection made = of;
    made.renew = {};
    made.descriptor = connect_to(raw_port);
    const std::array<std::uint32_t, 2> sizes{
        static_cast<std::uint32_t>(of.burst.size() / of.requests),
        static_cast<std::uint32_t>(answer.size())};
    if (send(made.descriptor, sizes.data(), sizeof sizes, MSG_NOSIGNAL) != sizeof sizes ||
        send(made.descriptor, answer.data(), answer.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(answer.size())) {
        fail("send the preamble");
    }
    return made;
}

void print(std::string_view scenario, const target& raw, const target& ours, double items) {
    const auto raw_ns =
        median(raw, ours, [](const cost& own, const cost&) { return own.server_ns; });
    const auto own_ns =
        median(ours, raw, [](const cost& own, const cost&) { return own.server_ns; });
    const auto client =
        median(ours, raw, [](const cost& own, const cost&) { return own.client_ns; });
    const auto cpu = median(ours, raw, [](const cost& own, const cost& base) {
        return own.server_ns / base.server_ns;
    });
    const auto rate = median(ours, raw, [](const cost& own, const cost& base) {
        return base.both_ns() / own.both_ns();
    });
    const auto more = median(ours, raw, [](const cost& own, const cost& base) {
        return own.server_ns - base.server_ns;
    });
    std::printf(
        "%-20s raw %7.0f ns, ours %7.0f ns, client %7.0f ns a request; "
        "server cpu %.3f, rate %.3f, %.1f ns more an item\n",
        std::string(scenario).c_str(), raw_ns, own_ns, client, cpu, rate, more / items);
}

/// Both servers under `bursts` bursts a round.
void compare(std::string_view scenario, const places& where, std::vector<connection> load,
             const bytes& answer, std::size_t bursts, double items) {
    target ours{where.pid, std::move(load)};
    target raw{where.raw_pid};
    for (const connection& each : ours.connections) {
        raw.connections.push_back(mirror(each, answer, where.raw));
    }
    run_rounds({&raw, &ours}, where.rounds, bursts);
    print(scenario, raw, ours, items);
    for (const connection& each : raw.connections) {
        close(each.descriptor);
    }
}

std::vector<std::string> static_tags(std::size_t count) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < count; ++i) {
        paths.push_back("plant/static/t" + std::to_string(i));
    }
    return paths;
}

struct read_load {
    std::size_t values = 1;
    std::size_t in_flight = 1;
    std::size_t sessions = 1;
    bool registered = false;
    std::size_t bursts = 1'000;
};

void run_reads(std::string_view name, const read_load& wanted, const places& where) {
    std::vector<std::unique_ptr<opcua_session>> sessions;
    std::vector<connection> load;
    bytes answer;
    for (std::size_t i = 0; i < wanted.sessions; ++i) {
        sessions.push_back(std::make_unique<opcua_session>(where.opcua));
        opcua_session& session = *sessions.back();
        auto nodes = static_tags(wanted.values);
        if (wanted.registered) {
            nodes = session.register_nodes(nodes);
        }
        answer = session.ask(session.client().read_request(nodes));
        bytes request = session.client().read_request(nodes);
        --session.client().sequence;  // made but not sent: `repeat` numbers what it sends
        load.push_back(session.repeat(request, wanted.in_flight, answer.size()));
    }
    compare(name, where, std::move(load), answer, wanted.bursts,
            static_cast<double>(wanted.values));
}

void run_get(std::string_view name, const places& where) {
    bytes answer;
    const connection load = get_connection(where.http, {}, &answer);
    compare(name, where, {load}, answer, 1'000, 1);
}

/// Connect, hello, open, create, activate, close session and channel, disconnect.
void run_connects(std::string_view name, const places& where) {
    constexpr int cycles = 100;
    std::vector<double> costs;
    for (std::size_t round = 0; round < where.rounds; ++round) {
        const double before = cpu_ns(where.pid);
        for (int cycle = 0; cycle < cycles; ++cycle) {
            opcua_session session(where.opcua);
            session.close_sessions();
            const bytes bye = session.client().chunk("CLOF", {}, 9'999);
            send(session.descriptor(), bye.data(), bye.size(), MSG_NOSIGNAL);
            std::byte nothing{};
            recv(session.descriptor(), &nothing, 1, 0);  // until the server has closed
        }
        costs.push_back((cpu_ns(where.pid) - before) / cycles);
    }
    std::printf("%-20s %.1f us of server CPU a cycle\n", std::string(name).c_str(),
                quantile(costs, 0.5) / 1'000);
}

bool run(const std::string& scenario, const places& where) {
    const std::map<std::string, read_load> reads{
        {"read1", {}},
        {"read1x8", {.in_flight = 8, .bursts = 500}},
        {"read1x20", {.sessions = 20, .bursts = 2'000}},
        {"read100", {.values = 100, .bursts = 300}},
        {"read100_registered", {.values = 100, .registered = true, .bursts = 300}},
    };
    if (const auto found = reads.find(scenario); found != reads.end()) {
        run_reads(scenario, found->second, where);
    } else if (scenario == "get") {
        run_get(scenario, where);
    } else if (scenario == "connect") {
        run_connects(scenario, where);
    } else {
        return false;
    }
    return true;
}

std::uint16_t port_of(const char* text) {
    return static_cast<std::uint16_t>(std::atoi(text));
}

}  // namespace
}  // namespace tagferry::bench

int main(int count, char** arguments) {
    using namespace tagferry::bench;
    if (count != 8) {
        std::fputs("request_client SCENARIO ROUNDS OPCUA_PORT HTTP_PORT PID RAW_PORT RAW_PID\n",
                   stderr);
        return 64;
    }
    places where;
    where.rounds = std::strtoull(arguments[2], nullptr, 10);
    where.opcua = port_of(arguments[3]);
    where.http = port_of(arguments[4]);
    where.pid = arguments[5];
    where.raw = port_of(arguments[6]);
    where.raw_pid = arguments[7];
    if (!run(arguments[1], where)) {
        std::fprintf(stderr, "%s is no scenario\n", arguments[1]);
        return 64;
    }
    return 0;
}
