// `GET /api/v1/tags` and `GET /api/v1/tags/{path}`: what tags are, apart from their values.
#pragma once

#include "web/api/list_resource.hpp"
#include "web/backend/values.hpp"

namespace tagferry::web {

class tag_resource final : public resource {
  public:
    explicit tag_resource(values& source) noexcept : values_(source) {}
    progress begin(exchange& with) override;

  private:
    values& values_;
};

class tags_resource final : public list_resource {
  public:
    explicit tags_resource(values& source) noexcept : values_(source) {}
    progress begin(exchange& with) override;

  private:
    outcome put_next(exchange& with, list_state& state) override;

    values& values_;
};

}  // namespace tagferry::web
