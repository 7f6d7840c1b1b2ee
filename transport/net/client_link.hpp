// Keeps one client engine connected, for ever: resolve, connect, `engine::opened`; after
// `engine::closed` wait a back-off and try again. One attempt at a time.
#pragma once

#include "transport/engine.hpp"
#include "transport/net/address.hpp"
#include "transport/net/driver_options.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace tagferry::transport {

class shard;
class worker_pool;

struct client_link_options {
    /// Numeric IPv4 or IPv6, or a name. A name is looked up at every attempt; the address that was
    /// last connected to is tried at once, beside the look-up, until it fails.
    std::string host;
    std::uint16_t port = 0;
    duration connect_timeout = std::chrono::seconds{3};  ///< resolving included
    /// The first wait after a failure; each further one doubles up to `back_off_max`. A jitter of
    /// up to a quarter is subtracted, so that many links do not knock in step. A connection that
    /// stayed up for `back_off_max` starts again from the first wait.
    duration back_off_first = std::chrono::milliseconds{500};
    duration back_off_max = std::chrono::seconds{5};
    std::uint32_t back_off_seed = 0;  ///< 0: a random one
    /// Sent bytes unacknowledged for so long end the connection; 0 leaves it to the kernel.
    std::chrono::milliseconds tcp_user_timeout{5000};
    int keep_alive_idle_s = 10;
    int keep_alive_interval_s = 5;
    int keep_alive_probes = 3;
    driver_options connection;
};

enum class link_state : std::uint8_t {
    stopped,     ///< not started, or stopped
    resolving,   ///< looking the host's name up
    connecting,  ///< waiting for the peer to accept
    up,          ///< the engine is open
    waiting,     ///< for `link_status::next_attempt`
    stopping,    ///< closing before it is stopped or started afresh
};

/// The state as one lower-case word. Static storage.
std::string_view name_of(link_state state) noexcept;

struct link_status {
    link_state state = link_state::stopped;
    std::uint64_t attempts = 0;   ///< begun since the link was made
    std::uint64_t successes = 0;  ///< of these, connected
    close_info last_close;        ///< why the last attempt or connection ended
    address peer;                 ///< of the attempt or connection under way, or of the last
    time_point since{};           ///< when `state` began
    time_point next_attempt = time_point::max();  ///< while `waiting`
};

/// Told of every change of state, on the shard thread. May call the link.
class link_observer {
  public:
    virtual void link_changed(const link_status& status) = 0;

  protected:
    ~link_observer() = default;
};

class client_link {
  public:
    /// @param owner the shard of the connection, @param resolver looks names up (numeric hosts do
    ///   without), @param client the engine, @param observer may be null. All must outlive the
    ///   link.
    client_link(shard& owner, worker_pool& resolver, const client_link_options& options,
                engine& client, link_observer* observer = nullptr);
    /// On the shard thread, or when the shard does not run. An open connection is closed at once.
    ~client_link();
    client_link(const client_link&) = delete;
    client_link& operator=(const client_link&) = delete;

    // All calls below on the shard thread, or before the shard starts; in any state, any order.

    /// Begins the first attempt at once. No effect when started.
    void start();
    /// Ends whatever is under way: an open connection is flushed and closed first (`requested`).
    void stop();
    /// Drops the connection or the wait, and begins a new attempt at once with a fresh back-off.
    void restart();

    const link_status& status() const noexcept;

    struct state;  ///< private to the implementation

  private:
    std::unique_ptr<state> state_;
};

}  // namespace tagferry::transport
