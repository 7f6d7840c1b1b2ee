// What this process is, whether it can serve, and whom it knows.
#pragma once

#include "transport/time/clock.hpp"
#include "web/backend/call.hpp"

#include <optional>
#include <string_view>

namespace tagferry::web {

/// Whom a credential stands for.
struct principal {
    std::string_view name;  ///< as the audit log shows it; valid while the process runs
    web::role role = web::role::none;
};

class identity {
  public:
    /// Semantic version, static storage.
    virtual std::string_view version() const noexcept = 0;
    virtual transport::wall_time_ns started() const noexcept = 0;

    /// True once the configuration is loaded and every listener listens; devices that cannot be
    /// reached do not count. When false, `why_not_ready` says in words what is missing.
    virtual bool ready() const noexcept = 0;
    virtual std::string_view why_not_ready() const noexcept = 0;

    /// False once a shard contained an exception or stopped turning.
    virtual bool healthy() const noexcept = 0;

    /// Whom this bearer token (RFC 6750), any bytes from the peer, stands for; nothing when it is
    /// unknown. Takes the same time wherever a wrong token differs. No allocation.
    virtual std::optional<principal> authenticate(std::string_view bearer) const noexcept = 0;

  protected:
    ~identity() = default;
};

}  // namespace tagferry::web
