// `GET /api/v1/browse/{path}`: the children of a node of the tree that OPC UA shows.
#pragma once

#include "web/api/list_resource.hpp"
#include "web/backend/browse.hpp"
#include "web/backend/values.hpp"

namespace tagferry::web {

class browse_resource final : public list_resource {
  public:
    /// @param tags whose revision is that of the tree.
    browse_resource(browse& tree, const values& tags) noexcept : tree_(tree), values_(tags) {}
    progress begin(exchange& with) override;

  private:
    outcome put_next(exchange& with, list_state& state) override;

    browse& tree_;
    const values& values_;
};

}  // namespace tagferry::web
