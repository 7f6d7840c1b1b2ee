// What this process is, for the web room.
#pragma once

#include "transport/threads/shard.hpp"
#include "web/backend/identity.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway {

/// A bearer token of the configuration.
struct web_token {
    std::string name;  ///< of its owner, for the audit log
    std::string secret;
    web::role role = web::role::operator_;
};

class web_identity final : public web::identity {
  public:
    /// @param version static storage. @param shards outlive it.
    web_identity(std::string_view version, transport::wall_time_ns started,
                 std::vector<const transport::shard*> shards)
        : version_(version), started_(started), shards_(std::move(shards)) {}

    /// Before the shards start. Empty secrets are never matched.
    void set_tokens(std::vector<web_token> tokens) { tokens_ = std::move(tokens); }

    /// Any thread.
    void set_ready(bool ready) noexcept { ready_.store(ready, std::memory_order_release); }

    std::string_view version() const noexcept override { return version_; }
    transport::wall_time_ns started() const noexcept override { return started_; }
    bool ready() const noexcept override { return ready_.load(std::memory_order_acquire); }
    std::string_view why_not_ready() const noexcept override {
        return ready() ? std::string_view{} : std::string_view{"starting or stopping"};
    }
    bool healthy() const noexcept override {
        for (const transport::shard* const each : shards_) {
            if (!each->healthy()) {
                return false;
            }
        }
        return true;
    }
    std::optional<web::principal> authenticate(std::string_view bearer) const noexcept override;

  private:
    std::string_view version_;
    transport::wall_time_ns started_;
    std::vector<const transport::shard*> shards_;
    std::vector<web_token> tokens_;
    std::atomic<bool> ready_{false};
};

}  // namespace tagferry::gateway
