#include "transport/net/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tagferry::transport {
namespace {

void set_option(int descriptor, int level, int option, int value) noexcept {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
}

void set_if_wished(int descriptor, int option, int value) noexcept {
    if (value > 0) {
        set_option(descriptor, IPPROTO_TCP, option, value);
    }
}

}  // namespace

std::error_code last_system_error() noexcept {
    return {errno, std::system_category()};
}

void tune(int descriptor, const socket_tuning& wished) noexcept {
    set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    if (wished.keep_alive_idle_s > 0) {
        set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
        set_if_wished(descriptor, TCP_KEEPIDLE, wished.keep_alive_idle_s);
        set_if_wished(descriptor, TCP_KEEPINTVL, wished.keep_alive_interval_s);
        set_if_wished(descriptor, TCP_KEEPCNT, wished.keep_alive_probes);
    }
    set_if_wished(descriptor, TCP_USER_TIMEOUT, static_cast<int>(wished.user_timeout.count()));
}

owned_descriptor& owned_descriptor::operator=(owned_descriptor&& other) noexcept {
    if (this != &other) {
        reset();
        value_ = other.release();
    }
    return *this;
}

int owned_descriptor::release() noexcept {
    return std::exchange(value_, -1);
}

void owned_descriptor::reset() noexcept {
    if (value_ >= 0) {
        ::close(release());
    }
}

owned_descriptor open_socket(const address& family_of, std::error_code& error) noexcept {
    const int family = family_of.is_v6 ? AF_INET6 : AF_INET;
    owned_descriptor result(
        ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    if (!result) {
        error = last_system_error();
    }
    return result;
}

owned_descriptor open_listening(const address& where, int backlog) {
    std::error_code error;
    owned_descriptor listening = open_socket(where, error);
    if (listening) {
        set_option(listening.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (where.is_v6) {
            set_option(listening.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
        }
        socket_address raw = to_socket_address(where);
        if (::bind(listening.get(), raw.generic(), raw.size) != 0 ||
            ::listen(listening.get(), backlog) != 0) {
            error = last_system_error();
        }
    }
    if (error) {
        throw std::system_error(error, "cannot listen on " + to_text(where));
    }
    return listening;
}

address local_address(int descriptor) noexcept {
    socket_address raw;
    if (::getsockname(descriptor, raw.generic(), &raw.size) != 0) {
        return {};
    }
    return from_socket_address(raw);
}

}  // namespace tagferry::transport
