// A client command's gateway: one that runs, or its own in front of a PLC.
#pragma once

#include "gateway/cli/client_options.hpp"
#include "gateway/cli/direct_gateway.hpp"
#include "gateway/cli/gateway_client.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tagferry::gateway::cli {

class client_session {
  public:
    /// @param tags paths and patterns, or points when direct. Throws client_fault.
    client_session(const client_options& options, const std::vector<std::string>& tags);

    gateway_client& client() noexcept { return *client_; }
    /// As the gateway calls them, in their order.
    const std::vector<std::string>& tags() const noexcept {
        return direct_ ? direct_->tags() : tags_;
    }

  private:
    std::vector<std::string> tags_;
    std::optional<direct_gateway> direct_;
    std::optional<gateway_client> client_;
};

}  // namespace tagferry::gateway::cli
