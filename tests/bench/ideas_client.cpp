// The load of tests/bench/ideas.sh: variants of the product in alternating rounds under the same
// requests.
//
//   ideas_client SCENARIO ROUNDS NAME:OPCUA_PORT:HTTP_PORT:PID...
//
// Prints one row of a table for each variant: requests a second (of both ends' CPU time on their
// one core), median and 90th percentile of the time from a write to its last answer, server CPU
// for a request, its ratio to the first variant's in the same round, and bytes allocated for a
// request by the whole server.
#include "tests/bench/http_load.hpp"
#include "tests/bench/opcua_load.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>

namespace tagferry::bench {
namespace {

struct variant {
    std::string name;
    std::uint16_t opcua = 0;
    std::uint16_t http = 0;
    std::vector<std::unique_ptr<opcua_session>> sessions{};
    target load{};
    double requests = 0;
    double allocated = 0;
};

struct scenario {
    std::size_t values = 1;
    std::size_t sessions = 1;
    std::size_t in_flight = 1;
    bool one_channel = false;
    bool get = false;
    std::size_t bursts = 1'000;
};

const std::map<std::string, scenario>& scenarios() {
    static const std::map<std::string, scenario> all{
        {"read1", {}},
        {"read1_20_sessions", {.sessions = 20, .bursts = 2'000}},
        {"read100", {.values = 100, .bursts = 300}},
        {"read100_20_sessions", {.values = 100, .sessions = 20, .bursts = 300}},
        {"channel_20x1", {.sessions = 20, .one_channel = true, .bursts = 100}},
        {"channel_20x4", {.sessions = 20, .in_flight = 4, .one_channel = true, .bursts = 30}},
        {"channel_20x8", {.sessions = 20, .in_flight = 8, .one_channel = true, .bursts = 15}},
        {"get", {.get = true}},
    };
    return all;
}

std::vector<std::string> static_tags(std::size_t count) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < count; ++i) {
        paths.push_back("plant/static/t" + std::to_string(i));
    }
    return paths;
}

/// One connection for each session.
void own_channels(variant& of, const scenario& what) {
    for (std::size_t i = 0; i < what.sessions; ++i) {
        of.sessions.push_back(std::make_unique<opcua_session>(of.opcua));
        opcua_session& session = *of.sessions.back();
        const auto nodes = static_tags(what.values);
        const bytes answer = session.ask(session.client().read_request(nodes));
        const bytes request = session.client().read_request(nodes);
        --session.client().sequence;  // made but not sent: `repeat` numbers what it sends
        of.load.connections.push_back(session.repeat(request, what.in_flight, answer.size()));
    }
}

/// All sessions on the channel of the first, everything in one write.
void shared_channel(variant& of, const scenario& what) {
    of.sessions.push_back(std::make_unique<opcua_session>(of.opcua));
    opcua_session& session = *of.sessions.back();
    const auto nodes = static_tags(what.values);
    bytes burst;
    std::size_t answer_size = 0;
    std::size_t request_size = 0;
    for (std::size_t i = 0; i < what.sessions; ++i) {
        if (i != 0) {
            session.further_session();
        }
        answer_size = session.ask(session.client().read_request(nodes)).size();
        const bytes request = session.client().read_request(nodes);
        --session.client().sequence;
        request_size = request.size();
        for (std::size_t copy = 0; copy < what.in_flight; ++copy) {
            opcua::test::append(burst, request);
        }
    }
    const std::size_t count = what.sessions * what.in_flight;
    connection made = session.repeat({}, 0, answer_size);
    made.burst = std::move(burst);
    made.requests = count;
    made.answer_bytes = count * answer_size;
    made.renew = [client = &session.client(), request_size](bytes& to) {
        for (std::size_t at = 0; at < to.size(); at += request_size) {
            transport::store(to.data() + at + 16, client->next_sequence(), std::endian::little);
        }
    };
    of.load.connections.push_back(std::move(made));
}

/// A field that differs each time, so that no request repeats the one before.
void http_connection(variant& of) {
    connection made = get_connection(of.http, "X-Request-Id: 00000000\r\n");
    const std::string_view mark = "X-Request-Id: ";
    const auto raw = std::as_bytes(std::span{mark});
    const auto at = std::search(made.burst.begin(), made.burst.end(), raw.begin(), raw.end());
    const auto digits = static_cast<std::size_t>(at - made.burst.begin()) + mark.size();
    made.renew = [digits, count = 0U](bytes& burst) mutable {
        ++count;
        std::uint32_t rest = count;
        for (std::size_t place = 8; place > 0; --place, rest /= 10) {
            burst[digits + place - 1] = static_cast<std::byte>('0' + rest % 10);
        }
    };
    of.load.connections.push_back(std::move(made));
}

/// Bytes the server has allocated since its start, whatever for.
double allocated_bytes(const variant& of) {
    const int descriptor = connect_to(of.http);
    const std::string request =
        "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    send(descriptor, request.data(), request.size(), MSG_NOSIGNAL);
    std::string text;
    std::array<char, 16'384> part{};
    for (ssize_t got = 0; (got = recv(descriptor, part.data(), part.size(), 0)) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    close(descriptor);
    std::istringstream lines(text);
    double sum = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("tagferry_operation_allocated_bytes_total")) {
            sum += std::stod(line.substr(line.rfind(' ') + 1));
        }
    }
    return sum;
}

void run_all(std::vector<variant>& all, const scenario& what, std::size_t rounds) {
    std::vector<target*> servers;
    for (variant& each : all) {
        if (what.get) {
            http_connection(each);
        } else if (what.one_channel) {
            shared_channel(each, what);
        } else {
            own_channels(each, what);
        }
        servers.push_back(&each.load);
    }
    run_rounds(servers, rounds, what.bursts);
    // Once more each for what it allocates: a page of metrics allocates too, as much each time.
    const std::size_t bursts = 4 * what.bursts;
    for (variant& each : all) {
        allocated_bytes(each);
        const double before = allocated_bytes(each);
        const double page = allocated_bytes(each) - before;
        measure(each.load, bursts);
        const double with_load = allocated_bytes(each) - before - 2 * page;
        each.allocated = std::max(0.0, with_load) /
                         static_cast<double>(bursts * each.load.connections.front().requests);
    }
}

void print(const std::string& name, const variant& of, const variant& first) {
    const auto own = [&](auto value) {
        return median(of.load, first.load,
                      [&](const cost& mine, const cost& base) { return value(mine, base); });
    };
    const double both = own([](const cost& mine, const cost&) { return mine.both_ns(); });
    const double cpu = own([](const cost& mine, const cost&) { return mine.server_ns; });
    const double ratio =
        own([](const cost& mine, const cost& base) { return mine.server_ns / base.server_ns; });
    std::printf("| %s | %s | %.0f | %.1f | %.1f | %.2f | %.3f | %.0f |\n", name.c_str(),
                of.name.c_str(), 1e9 / both, quantile(of.load.latencies_ns, 0.5) / 1e3,
                quantile(of.load.latencies_ns, 0.9) / 1e3, cpu / 1e3, ratio, of.allocated);
}

variant parse_variant(const std::string& text) {
    std::istringstream parts(text);
    std::array<std::string, 4> part;
    for (std::string& each : part) {
        std::getline(parts, each, ':');
    }
    variant made;
    made.name = part[0];
    made.opcua = static_cast<std::uint16_t>(std::stoul(part[1]));
    made.http = static_cast<std::uint16_t>(std::stoul(part[2]));
    made.load.pid = part[3];
    return made;
}

}  // namespace
}  // namespace tagferry::bench

int main(int count, char** arguments) {
    using namespace tagferry::bench;
    if (count < 4 || !scenarios().contains(arguments[1])) {
        std::fputs("ideas_client SCENARIO ROUNDS NAME:OPCUA_PORT:HTTP_PORT:PID...\n", stderr);
        return 64;
    }
    std::vector<variant> all;
    for (int i = 3; i < count; ++i) {
        all.push_back(parse_variant(arguments[i]));
    }
    run_all(all, scenarios().at(arguments[1]), std::strtoull(arguments[2], nullptr, 10));
    for (const variant& each : all) {
        print(arguments[1], each, all.front());
    }
    return 0;
}
