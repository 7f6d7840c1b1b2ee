// Reading tags for the OPC UA server.
#pragma once

#include "gateway/expose/device_read_hub.hpp"
#include "gateway/expose/source_directory.hpp"
#include "gateway/tags/tag_table.hpp"
#include "protocols/opcua/backend/values.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tagferry::gateway {

/// What a `device_read_hub` for this backend answers with.
device_read_codes opcua_device_read_codes() noexcept;

class opcua_values final : public opcua::values_backend {
  public:
    opcua_values(const model_access& models, const tag_table& table, device_read_hub& reads);

    bool read_current(const opcua::call& context, opcua::tag_handle handle,
                      std::span<std::byte> scratch, opcua::sample& out) override;
    void read_numbers(const opcua::call& context, std::span<const opcua::tag_handle> handles,
                      std::span<opcua::number_sample> into) override;
    bool read_device(const opcua::call& context,
                     std::span<const opcua::tag_handle> handles) override;

  private:
    const model_access& models_;
    const tag_table& table_;
    device_read_hub& reads_;
    value_reference held_;           // the large value shown last
    std::vector<std::byte> packed_;  // a large array of strings, put together
    std::vector<tag_handle> handles_;
    std::array<opcua::builtin_type, static_cast<std::size_t>(data_type::structure) + 1> types_{};
};

}  // namespace tagferry::gateway
