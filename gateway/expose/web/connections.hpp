// The links to the devices for the web room.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "gateway/tags/tag_table.hpp"
#include "web/backend/connections.hpp"

namespace tagferry::gateway {

class web_connections final : public web::connections {
  public:
    web_connections(const source_directory& sources, const tag_table& table) noexcept
        : sources_(sources), table_(table) {}

    web::outcome next(const web::call& context, std::uint64_t& position,
                      web::connection_row& row) override;
    web::outcome find(const web::call& context, std::string_view name,
                      web::connection_row& row) override;

  private:
    void fill(const source_place& place, web::connection_row& row) const noexcept;

    const source_directory& sources_;
    const tag_table& table_;
};

}  // namespace tagferry::gateway
