// The tree of tags as the OPC UA server asks for it.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "protocols/opcua/backend/browse.hpp"

namespace tagferry::gateway {

class opcua_tree final : public opcua::browse_backend {
  public:
    explicit opcua_tree(const model_access& models) noexcept : models_(models) {}

    bool find(const opcua::call& context, std::string_view path, opcua::tree_handle& out) override;
    void find_each(const opcua::call& context, std::span<const std::string_view> paths,
                   std::span<opcua::tree_handle> into) override;
    bool find_child(const opcua::call& context, opcua::tree_handle parent, std::string_view name,
                    opcua::tree_handle& out) override;
    bool describe(const opcua::call& context, opcua::tree_handle node,
                  opcua::tree_node& out) override;
    opcua::tree_page children(const opcua::call& context, opcua::tree_handle parent,
                              std::uint64_t cursor, std::span<opcua::tree_node> into) override;

  private:
    const model_node* node_of(opcua::tree_handle handle) const noexcept;

    const model_access& models_;
};

}  // namespace tagferry::gateway
