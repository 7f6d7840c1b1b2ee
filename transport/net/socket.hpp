// Plain sockets: what listener and client link need of the system, beside the streams.
#pragma once

#include "transport/net/address.hpp"

#include <sys/socket.h>

#include <chrono>
#include <system_error>

namespace tagferry::transport {

/// An address as the system takes and gives it.
struct socket_address {
    sockaddr_storage storage{};
    socklen_t size = sizeof(sockaddr_storage);

    sockaddr* generic() noexcept { return static_cast<sockaddr*>(static_cast<void*>(&storage)); }
};
socket_address to_socket_address(const address& value) noexcept;
address from_socket_address(const socket_address& value) noexcept;

/// What a connection is given before its first byte. Zeros leave the system's values.
struct socket_tuning {
    int keep_alive_idle_s = 0;
    int keep_alive_interval_s = 0;
    int keep_alive_probes = 0;
    std::chrono::milliseconds user_timeout{0};
};
/// TCP_NODELAY always (TX3), and the rest as wished. A system that knows an option not goes on
/// without it.
void tune(int descriptor, const socket_tuning& wished) noexcept;

/// Closes its descriptor when destroyed.
class owned_descriptor {
  public:
    owned_descriptor() noexcept = default;
    explicit owned_descriptor(int value) noexcept : value_(value) {}
    owned_descriptor(owned_descriptor&& other) noexcept : value_(other.release()) {}
    owned_descriptor& operator=(owned_descriptor&& other) noexcept;
    ~owned_descriptor() { reset(); }

    explicit operator bool() const noexcept { return value_ >= 0; }
    int get() const noexcept { return value_; }
    int release() noexcept;
    void reset() noexcept;

  private:
    int value_ = -1;
};

/// A non-blocking TCP socket of the address's family. Empty with `error` set when there is none.
owned_descriptor open_socket(const address& family_of, std::error_code& error) noexcept;

/// A socket bound to the address (SO_REUSEADDR; an IPv6 one takes IPv6 only, so that the same port
/// can be given for both families) and listening. Throws std::system_error with address and port
/// in its text.
owned_descriptor open_listening(const address& where, int backlog);

address local_address(int descriptor) noexcept;

/// `errno` as an error code.
std::error_code last_system_error() noexcept;

}  // namespace tagferry::transport
