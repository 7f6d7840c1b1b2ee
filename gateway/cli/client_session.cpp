#include "gateway/cli/client_session.hpp"

namespace tagferry::gateway::cli {

client_session::client_session(const client_options& options, const std::vector<std::string>& tags)
    : tags_(tags) {
    if (options.direct.host.empty()) {
        client_.emplace(gateway_of(options));
        return;
    }
    direct_.emplace(options.direct, tags);
    client_.emplace(direct_->address());
}

}  // namespace tagferry::gateway::cli
