// `/healthz`, `/readyz` and `/api/v1/version`: for probes, without credentials and secrets.
#pragma once

#include "web/backend/identity.hpp"
#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"

namespace tagferry::web {

/// Whether the process works at all: 200, or 503 to be restarted.
class health_resource final : public resource {
  public:
    explicit health_resource(const identity& process) noexcept : process_(process) {}
    progress begin(exchange& with) override;

  private:
    const identity& process_;
};

/// Whether the process serves: 200, or 503 with what is missing. Devices do not count.
class readiness_resource final : public resource {
  public:
    explicit readiness_resource(const identity& process) noexcept : process_(process) {}
    progress begin(exchange& with) override;

  private:
    const identity& process_;
};

class version_resource final : public resource {
  public:
    explicit version_resource(const identity& process) noexcept : process_(process) {}
    progress begin(exchange& with) override;

  private:
    const identity& process_;
};

}  // namespace tagferry::web
