// `--direct HOST`: a PLC without a gateway beside it. The command is a gateway of its own for as
// long as it runs, with the points it was given as tags, on loopback, behind a token nobody knows.
#pragma once

#include "gateway/app/gateway.hpp"
#include "gateway/cli/gateway_client.hpp"
#include "gateway/log/log.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tagferry::gateway::cli {

struct direct_options {
    std::string host;  ///< `HOST` or `HOST:PORT`; empty: not direct
    std::uint32_t rack = 0;  ///< 0 to 7
    std::uint32_t slot = 1;  ///< 0 to 31
    std::chrono::milliseconds interval{250};  ///< from one reading to the next
};

class direct_gateway {
  public:
    /// Connects and waits until every point was answered, at most ten seconds.
    /// @param points `ADDRESS:TYPE`, e.g. `DB1.DBD0:REAL`; all of them may be written.
    /// Throws client_fault: bad_data for a point that is none, unavailable with the reason when
    /// the PLC does not answer.
    direct_gateway(const direct_options& options, const std::vector<std::string>& points);
    ~direct_gateway();
    direct_gateway(const direct_gateway&) = delete;
    direct_gateway& operator=(const direct_gateway&) = delete;

    const gateway_address& address() const noexcept { return address_; }
    /// Of the points, in their order.
    const std::vector<std::string>& tags() const noexcept { return tags_; }

  private:
    /// The command's own words are enough.
    class no_log final : public log::line_output {
      public:
        bool offer(std::span<const std::byte>) noexcept override { return true; }
    };

    void wait_until_read();

    gateway_address address_;
    std::vector<std::string> tags_;
    no_log nowhere_;
    transport::real_clock clock_;
    log::logger logger_;
    std::unique_ptr<gateway> gateway_;
};

}  // namespace tagferry::gateway::cli
