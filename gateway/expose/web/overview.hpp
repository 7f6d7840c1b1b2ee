// The whole gateway in a few numbers, for the web room.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "gateway/tags/tag_table.hpp"
#include "protocols/opcua/server/server.hpp"
#include "transport/time/clock.hpp"
#include "web/backend/overview.hpp"

#include <string>
#include <vector>

namespace tagferry::gateway {

/// Everything it is made of outlives it.
class web_overview final : public web::overview {
  public:
    /// @param endpoints filled when the listeners are open.
    web_overview(const source_directory& sources, const tag_table& table,
                 const model_access& models, const opcua::server& opcua,
                 const std::vector<std::string>& endpoints, const transport::clock& clock) noexcept
        : sources_(sources),
          table_(table),
          models_(models),
          opcua_(opcua),
          endpoints_(endpoints),
          clock_(clock) {}

    web::outcome describe(const web::call& context, web::overview_row& row) override;

  private:
    const source_directory& sources_;
    const tag_table& table_;
    const model_access& models_;
    const opcua::server& opcua_;
    const std::vector<std::string>& endpoints_;
    const transport::clock& clock_;
};

}  // namespace tagferry::gateway
