// `GET /api/v1/browse/{path}`: the children of a node of the tree that OPC UA shows.
#pragma once

#include "web/api/list_resource.hpp"
#include "web/backend/browse.hpp"

namespace tagferry::web {

class browse_resource final : public list_resource {
  public:
    explicit browse_resource(browse& tree) noexcept : tree_(tree) {}
    progress begin(exchange& with) override;

  private:
    outcome put_next(exchange& with, list_state& state) override;

    browse& tree_;
};

}  // namespace tagferry::web
