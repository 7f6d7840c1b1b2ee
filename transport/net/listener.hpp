// Accepts connections on any number of addresses and gives each its engine and its driver.
#pragma once

#include "transport/engine.hpp"
#include "transport/net/address.hpp"
#include "transport/net/driver_options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tagferry::transport {

class shard;

/// Who is at the other end.
struct peer_info {
    address peer;
    address local;
};

/// Makes the engine of a connection just admitted. Called on the shard thread.
class engine_factory {
  public:
    /// Null refuses the connection: it is closed at once.
    virtual std::unique_ptr<engine> make_engine(const peer_info& peer) = 0;

  protected:
    ~engine_factory() = default;
};

/// Things worth a log line. Each kind is reported at most once a second and carries how many
/// happened since its last report. Called on the shard thread.
enum class listener_event : std::uint8_t {
    refused_in_all,      ///< `listener_options::max_connections` are open
    refused_by_address,  ///< `max_connections_per_address` are open from this peer
    accept_failed,       ///< `error` says why; accepting pauses for `accept_pause`
};
class listener_observer {
  public:
    virtual void happened(listener_event event, const address& peer, std::error_code error,
                          std::uint64_t count) = 0;

  protected:
    ~listener_observer() = default;
};

struct listener_options {
    std::vector<address> addresses;  ///< at least one; port 0 takes any free port
    std::size_t max_connections = 128;
    std::size_t max_connections_per_address = 32;
    int backlog = 128;
    /// After an accept failed for want of descriptors or memory.
    duration accept_pause = std::chrono::milliseconds{100};
    /// Keep-alive probes find a peer that vanished; seconds idle, between probes, and probes.
    int keep_alive_idle_s = 30;
    int keep_alive_interval_s = 10;
    int keep_alive_probes = 3;
    driver_options connection;
    listener_observer* observer = nullptr;  ///< may be null
};

/// TCP_NODELAY and keep-alive are set on every connection. The connections and their engines live
/// inside the listener and are destroyed with it at the latest.
class listener {
  public:
    /// Binds and listens at once, so that a wrong address is known before anything runs. Throws
    /// std::system_error with the address, the port and the reason in its text. Any thread.
    /// @param owner the shard of all connections; must outlive the listener.
    /// @param factory must outlive the listener.
    listener(shard& owner, const listener_options& options, engine_factory& factory);
    /// Closes everything without waiting. On the shard thread, or when the shard does not run.
    ~listener();
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    /// The addresses listened on, in the order of the options, with the ports that were free.
    std::span<const address> bound() const noexcept;

    /// Begins to accept. On the shard thread, or before the shard starts.
    void start();

    /// No further connections; those there are remain. On the shard thread.
    void stop_accepting();

    /// As `stop_accepting`, and asks every connection to close with `shutting_down` after what it
    /// has queued is sent. `idle()` turns true when the last one is gone. On the shard thread.
    void stop();

    /// No connection is left. On the shard thread, or when the shard does not run.
    bool idle() const noexcept;
    std::size_t connection_count() const noexcept;

    struct state;  ///< private to the implementation

  private:
    std::unique_ptr<state> state_;
};

}  // namespace tagferry::transport
