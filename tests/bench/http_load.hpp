// HTTP connections for load programs.
#pragma once

#include "tests/bench/paired_rounds.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::bench {

inline int connect_to(std::uint16_t port) {
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

/// What a program that polls one value sends; asked once, to know the size of its answer, which
/// `answer` receives when it is given.
/// @param more further header fields, each with its line end.
inline connection get_connection(std::uint16_t port, const std::string& more = {},
                                 std::vector<std::byte>* answer = nullptr) {
    connection made;
    made.descriptor = connect_to(port);
    const std::string request =
        "GET /api/v1/values/plant/static/t7 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
        "\r\nUser-Agent: load/1\r\nAccept: application/json\r\n" + more + "\r\n";
    const auto raw = std::as_bytes(std::span{request});
    made.burst.assign(raw.begin(), raw.end());
    send_burst(made);
    std::vector<std::byte> got(4096);
    const ssize_t size = recv(made.descriptor, got.data(), got.size(), 0);
    got.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    const std::string_view text{reinterpret_cast<const char*>(got.data()), got.size()};
    if (!text.starts_with("HTTP/1.1 200 ") || text.find("\"Good\"") == std::string_view::npos) {
        std::fprintf(stderr, "no value: %s\n", std::string(text).c_str());
        std::exit(1);
    }
    made.answer_bytes = got.size();
    if (answer != nullptr) {
        *answer = std::move(got);
    }
    return made;
}

}  // namespace tagferry::bench
