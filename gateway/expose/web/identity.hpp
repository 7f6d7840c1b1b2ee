// What this process is, and who holds its tokens, for the web room.
#pragma once

#include "gateway/config/access_token.hpp"
#include "gateway/config/configuration.hpp"
#include "transport/threads/shard.hpp"
#include "web/backend/identity.hpp"

#include <atomic>
#include <optional>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

class web_identity final : public web::identity {
  public:
    /// @param version static storage. @param shards outlive it.
    web_identity(std::string_view version, transport::wall_time_ns started,
                 std::vector<const transport::shard*> shards,
                 std::vector<config::web_token> tokens);

    /// Any thread.
    void set_ready(bool ready) noexcept { ready_.store(ready, std::memory_order_release); }

    std::string_view version() const noexcept override { return version_; }
    transport::wall_time_ns started() const noexcept override { return started_; }
    bool ready() const noexcept override { return ready_.load(std::memory_order_acquire); }
    std::string_view why_not_ready() const noexcept override {
        return ready() ? std::string_view{} : std::string_view{"starting or stopping"};
    }
    bool healthy() const noexcept override;
    std::optional<web::principal> authenticate(std::string_view bearer) const noexcept override;

  private:
    std::string_view version_;
    transport::wall_time_ns started_;
    std::vector<const transport::shard*> shards_;
    std::vector<config::web_token> tokens_;
    /// Only with tokens: it maps most of OpenSSL. Used by the web shard alone.
    mutable std::optional<config::token_hasher> hasher_;
    std::atomic<bool> ready_{false};
};

}  // namespace tagferry::gateway
