// The web room put together: pools, resources, routes and counters of one shard.
#pragma once

#include "transport/net/listener.hpp"
#include "transport/time/clock.hpp"
#include "web/backend/backend.hpp"
#include "web/http/assets.hpp"
#include "web/http/limits.hpp"

#include <prometheus/collectable.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::web {

struct server_options {
    http_limits limits;
    /// What somebody without credentials may do. Listeners stay on loopback while this is more
    /// than `none`.
    role anonymous_role = role::viewer;
    /// Names this server answers to, besides addresses and `localhost`.
    std::vector<std::string> host_names = {};
    /// Files served to everybody at their paths; "/" is the page. None may lie below "/api".
    std::span<const asset> assets = {};
};

/// Makes the engine of each connection. The engines keep deadlines of their own and answer 408:
/// give the listener a `driver_options::frame_timeout` above `http_limits::head_timeout_ms`, and a
/// `write_timeout` above `send_timeout_ms`, or `duration::max()`. Lives on its shard's thread; must
/// outlive the listener that uses it, and be destroyed only after the worker pool has stopped.
class server final : public transport::engine_factory {
  public:
    /// Throws std::invalid_argument for limits that contradict each other, std::system_error when
    /// memory cannot be reserved. The backend and the clock must outlive the server.
    server(const server_options& options, const backend& above, const transport::clock& clock);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Tells every client of the stream that the gateway goes away; before the listener stops.
    void close_streams();

    /// Never null.
    std::unique_ptr<transport::engine> make_engine(const transport::peer_info& peer) override;
    /// As above with the peer as text.
    std::unique_ptr<transport::engine> make_engine(std::string_view peer,
                                                   channel_security security);

    /// Request counters, for whoever collects metrics elsewhere; `/metrics` has them already.
    const prometheus::Collectable& request_metrics() const noexcept;

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace tagferry::web
