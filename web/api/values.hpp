// `GET /api/v1/values/{path}` and `GET /api/v1/values`.
#pragma once

#include "web/api/list_resource.hpp"
#include "web/backend/values.hpp"
#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"

#include <cstddef>
#include <span>

namespace tagferry::web {

/// One value by its path. Without `max_age` it is answered in its turn and allocates nothing.
class value_resource final : public resource {
  public:
    /// @param scratch at least `2 * source.largest_value_size()` bytes, free between calls.
    value_resource(values& source, std::span<std::byte> scratch) noexcept
        : values_(source), scratch_(scratch) {}

    progress begin(exchange& with) override;
    progress resumed(exchange& with, std::uint32_t result) override;
    void abandoned(exchange& with) noexcept override;

  private:
    progress answer(exchange& with, tag_handle tag);

    values& values_;
    std::span<std::byte> scratch_;
};

/// Several values: named with `tag=`, in the order of the request, or all that match `filter`.
class values_resource final : public list_resource {
  public:
    /// @param scratch as for `value_resource`; may be the same.
    values_resource(values& source, std::span<std::byte> scratch) noexcept
        : values_(source), scratch_(scratch) {}

    progress begin(exchange& with) override;
    progress resumed(exchange& with, std::uint32_t result) override;
    void abandoned(exchange& with) noexcept override;

  private:
    outcome put_next(exchange& with, list_state& state) override;
    outcome put_named(exchange& with, list_state& state);
    outcome put_row(exchange& with, list_state& state, tag_handle tag);
    outcome refresh(exchange& with, transport::duration max_age);

    values& values_;
    std::span<std::byte> scratch_;
};

}  // namespace tagferry::web
