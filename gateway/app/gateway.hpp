// The gateway put together: shards, table, sources, OPC UA server, web server and their listeners,
// made from a checked configuration.
//
//   control thread     builds, publishes models, starts and stops; waits otherwise
//   shard 0            OPC UA and web; with one shard the PLC links too
//   shards 1 …         PLC links, spread over them
//   workers, storage   what must not be done on a shard
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/log/log.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

/// Where it can be reached, in the order of the configuration.
struct gateway_endpoints {
    std::vector<std::string> opcua;  ///< `opc.tcp://127.0.0.1:4840`
    std::vector<std::string> http;   ///< `http://127.0.0.1:8080`
};

/// All calls on the control thread.
class gateway {
  public:
    /// Builds everything and binds every listener, so that what is wrong is known before anything
    /// runs. Throws std::system_error with words when a port or memory cannot be had and
    /// std::invalid_argument when the configuration asks for what the rooms below refuse.
    /// @param logger,clock outlive the gateway.
    gateway(config::configuration settings, log::logger& logger, const transport::clock& clock);
    /// Stops.
    ~gateway();
    gateway(const gateway&) = delete;
    gateway& operator=(const gateway&) = delete;

    /// With the ports that were free where 0 was asked for.
    const gateway_endpoints& endpoints() const noexcept;

    /// Starts the threads; serves and connects from here on. Once.
    void start();

    /// Takes over another set of tags and scan classes on the connections there are, and returns
    /// when every shard has: tags that stay keep their ids and values, tags that are gone are
    /// unknown from then on. Links stay up. While it runs.
    ///
    /// Everything else is refused for now: std::invalid_argument names every connection that was
    /// added, removed or changed in its options, and every other key that differs, and nothing is
    /// changed. Tags that do not fit are left out and logged, as at the start.
    /// @param next checked, as for the constructor. Throws std::logic_error when not running.
    void apply(config::configuration next);

    /// For the metrics: another configuration was to be taken over, and was not. `apply` notes its
    /// successes itself.
    void reload_failed() noexcept;

    /// Returns when every shard has turned once more; hangs when one does not, which is what a
    /// watchdog is for. While it runs.
    void see_every_shard_turn();

    /// How things are, in one line: `1/2 PLCs up, 40 tags: 20 good, 0 uncertain, 20 bad`. No
    /// allocation.
    struct status_line {
        std::array<char, 160> text{};
        std::size_t size = 0;
        std::string_view view() const noexcept { return {text.data(), size}; }
    };
    status_line status() const noexcept;

    /// Clients are answered what is under way and told of the end, links are closed, threads
    /// joined; after a few seconds without waiting further. Any number of times.
    void stop();

    struct parts;  ///< private to the implementation

  private:
    std::unique_ptr<parts> parts_;
};

}  // namespace tagferry::gateway
