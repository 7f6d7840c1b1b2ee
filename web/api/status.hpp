// `/api/v1/status`: the whole gateway in a few numbers.
#pragma once

#include "web/backend/identity.hpp"
#include "web/backend/overview.hpp"
#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"

namespace tagferry::web {

class status_resource final : public resource {
  public:
    status_resource(const identity& process, overview& whole) noexcept
        : process_(process), whole_(whole) {}
    progress begin(exchange& with) override;

  private:
    const identity& process_;
    overview& whole_;
};

}  // namespace tagferry::web
