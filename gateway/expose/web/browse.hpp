// The tree of tags for the web room.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "web/backend/browse.hpp"

namespace tagferry::gateway {

class web_browse final : public web::browse {
  public:
    explicit web_browse(const model_access& models) noexcept : models_(models) {}

    web::outcome node(const web::call& context, std::string_view path, web::node_row& row) override;
    web::outcome next_child(const web::call& context, web::node_handle parent,
                            std::uint64_t& position, web::node_row& row) override;

  private:
    const model_access& models_;
};

}  // namespace tagferry::gateway
