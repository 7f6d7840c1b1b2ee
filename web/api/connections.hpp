// `GET /api/v1/connections` and `GET /api/v1/connections/{name}`.
#pragma once

#include "web/api/list_resource.hpp"
#include "web/backend/connections.hpp"

namespace tagferry::web {

class connection_resource final : public resource {
  public:
    explicit connection_resource(connections& links) noexcept : links_(links) {}
    progress begin(exchange& with) override;

  private:
    connections& links_;
};

class connections_resource final : public list_resource {
  public:
    explicit connections_resource(connections& links) noexcept : links_(links) {}
    progress begin(exchange& with) override;

  private:
    outcome put_next(exchange& with, list_state& state) override;

    connections& links_;
};

}  // namespace tagferry::web
