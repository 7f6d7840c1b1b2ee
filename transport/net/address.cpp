#include "transport/net/address.hpp"

#include "transport/net/socket.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace tagferry::transport {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return port;
}

constexpr std::array<std::uint8_t, 12> v4_in_v6_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// An IPv4 address that came as an IPv6 one, as what it is.
address unmapped(const address& value) {
    if (!value.is_v6 ||
        !std::equal(v4_in_v6_prefix.begin(), v4_in_v6_prefix.end(), value.bytes.begin())) {
        return value;
    }
    address v4;
    v4.port = value.port;
    std::copy_n(value.bytes.begin() + 12, 4, v4.bytes.begin());
    return v4;
}

}  // namespace

std::optional<address> parse_host(std::string_view text, std::uint16_t port) {
    address value;
    value.port = port;
    std::string host(text);
    if (inet_pton(AF_INET, host.c_str(), value.bytes.data()) == 1) {
        return value;
    }
    value.is_v6 = true;
    if (const auto percent = host.find('%'); percent != std::string::npos) {
        value.scope = if_nametoindex(host.c_str() + percent + 1);
        if (value.scope == 0) {
            return std::nullopt;
        }
        host.resize(percent);
    }
    if (inet_pton(AF_INET6, host.c_str(), value.bytes.data()) != 1) {
        return std::nullopt;
    }
    return unmapped(value);
}

std::optional<address> parse_address(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const auto port = parse_port(text.substr(colon + 1));
    std::string_view host = text.substr(0, colon);
    if (!port) {
        return std::nullopt;
    }
    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    // An IPv6 address needs its brackets, or its last group would be taken for a port.
    if (bracketed != (host.find(':') != std::string_view::npos)) {
        return std::nullopt;
    }
    return parse_host(host, *port);
}

std::string to_text(const address& value) {
    std::array<char, INET6_ADDRSTRLEN> host{};
    inet_ntop(value.is_v6 ? AF_INET6 : AF_INET, value.bytes.data(), host.data(), host.size());
    std::string text;
    if (value.is_v6) {
        text += '[';
    }
    text += host.data();
    if (value.scope != 0) {
        std::array<char, IF_NAMESIZE> name{};
        text += '%';
        text += if_indextoname(value.scope, name.data()) != nullptr ? std::string(name.data())
                                                                    : std::to_string(value.scope);
    }
    if (value.is_v6) {
        text += ']';
    }
    return text + ':' + std::to_string(value.port);
}

socket_address to_socket_address(const address& value) noexcept {
    socket_address result;
    if (value.is_v6) {
        sockaddr_in6 v6{};
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(value.port);
        v6.sin6_scope_id = value.scope;
        std::memcpy(&v6.sin6_addr, value.bytes.data(), sizeof v6.sin6_addr);
        std::memcpy(&result.storage, &v6, sizeof v6);
        result.size = sizeof v6;
    } else {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(value.port);
        std::memcpy(&v4.sin_addr, value.bytes.data(), sizeof v4.sin_addr);
        std::memcpy(&result.storage, &v4, sizeof v4);
        result.size = sizeof v4;
    }
    return result;
}

address from_socket_address(const socket_address& value) noexcept {
    address result;
    if (value.storage.ss_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &value.storage, sizeof v6);
        result.is_v6 = true;
        result.port = ntohs(v6.sin6_port);
        result.scope = v6.sin6_scope_id;
        std::memcpy(result.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
        return unmapped(result);
    }
    sockaddr_in v4{};
    std::memcpy(&v4, &value.storage, sizeof v4);
    result.port = ntohs(v4.sin_port);
    std::memcpy(result.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    return result;
}

}  // namespace tagferry::transport
