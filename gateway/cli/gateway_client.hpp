// How the client commands talk to a gateway: REST over HTTP/1.1, and the stream over WebSocket.
// Boost.Asio and Beast do the work, in gateway_client.cpp alone: a command that asks and waits has
// no need of the shard's poller.
#pragma once

#include "gateway/cli/exit_code.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tagferry::gateway::cli {

/// Something a command cannot go on from, in words for its user.
class client_fault : public std::runtime_error {
  public:
    client_fault(exit_code code, const std::string& words)
        : std::runtime_error(words), code_(code) {}
    exit_code code() const noexcept { return code_; }

  private:
    exit_code code_;
};

/// Where a gateway answers and what is shown to it.
struct gateway_address {
    std::string host;
    std::string port;
    std::string token;  ///< empty: none

    std::string url() const;
};

/// Reads `http://HOST[:PORT]`, with or without the scheme and a last slash; an IPv6 address stands
/// in brackets. Throws client_fault (usage) that says what is wrong.
gateway_address gateway_address_of(std::string_view url);

struct http_answer {
    unsigned status = 0;
    std::string body;
};

/// One thread. Every call that waits ends after ten seconds at most, unless said otherwise.
class gateway_client {
  public:
    explicit gateway_client(gateway_address where);
    ~gateway_client();
    gateway_client(const gateway_client&) = delete;
    gateway_client& operator=(const gateway_client&) = delete;

    const gateway_address& where() const noexcept;

    /// One request on a connection of its own. Throws client_fault (unavailable) when no answer
    /// comes; an answer of any status is one.
    /// @param method `GET`, `PUT` or `POST`. @param target path and query, percent-encoded.
    /// @param json the body; empty: none.
    http_answer request(std::string_view method, std::string_view target,
                        const std::string& json = {});

    /// From here on SIGINT and SIGTERM end waits instead of the process.
    void catch_signals();

    /// Opens `/api/v1/stream`. Throws client_fault when that fails: unavailable, or no_permission
    /// when the gateway wants a token.
    void open_stream();
    /// Throws client_fault (unavailable) when the stream is lost.
    void send(const std::string& message);

    enum class waited { message, time_passed, interrupted, closed };
    /// Waits for the next message of the stream, or without one just waits.
    waited wait(std::chrono::milliseconds longest, std::string& message);
    /// Why the stream was closed, in words.
    const std::string& close_reason() const noexcept;

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace tagferry::gateway::cli
