// Who the server is and what it allows, from the configuration.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/expose/source_directory.hpp"
#include "protocols/opcua/backend/configuration.hpp"
#include "protocols/opcua/backend/identity.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

class opcua_identity final : public opcua::identity_backend, public opcua::configuration_backend {
  public:
    /// @param version static storage. @param started when the process started.
    opcua_identity(const config::opcua_section& settings, std::string_view version,
                   transport::wall_time_ns started, const source_directory& sources);

    /// The URLs clients can use; before the first client comes.
    void set_endpoint_urls(std::vector<std::string> urls);

    const opcua::identity& who_we_are() const noexcept override { return identity_; }
    std::span<const std::string_view> endpoint_urls() const noexcept override { return views_; }
    /// 255 while every connection is up, less the fewer are, 1 when none is (no data, Part 4
    /// 6.6.2.4.2); 255 without connections.
    std::uint8_t service_level() const noexcept override;
    const opcua::settings& current() const noexcept override { return settings_; }

  private:
    std::string application_uri_;
    std::string application_name_;
    opcua::identity identity_;
    opcua::settings settings_;
    std::vector<std::string> urls_;
    std::vector<std::string_view> views_;
    const source_directory& sources_;
};

}  // namespace tagferry::gateway
