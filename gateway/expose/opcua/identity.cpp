#include "gateway/expose/opcua/identity.hpp"

#include <utility>

namespace tagferry::gateway {

opcua_identity::opcua_identity(const config::opcua_section& settings, std::string_view version,
                               transport::wall_time_ns started, const source_directory& sources)
    : application_uri_(settings.application_uri),
      application_name_(settings.application_name),
      sources_(sources) {
    identity_.application_uri = application_uri_;
    identity_.application_name = application_name_;
    identity_.product_uri = "urn:tagferry:gateway";
    identity_.manufacturer_name = "Tagferry";
    identity_.product_name = "Tagferry";
    identity_.software_version = version;
    identity_.build_number = version;
    identity_.build_date = started;
    identity_.start_time = started;
    settings_.allow_none_policy = settings.allow_none_policy;
    settings_.allow_anonymous_write = settings.allow_anonymous_write;
}

void opcua_identity::set_endpoint_urls(std::vector<std::string> urls) {
    urls_ = std::move(urls);
    views_.assign(urls_.begin(), urls_.end());
}

std::uint8_t opcua_identity::service_level() const noexcept {
    constexpr std::size_t healthy = 255;
    constexpr std::size_t best_degraded = 199;
    std::size_t up = 0;
    for (const source_place& place : sources_.all()) {
        up += place.source->status().state == source_state::up ? 1U : 0U;
    }
    const std::size_t all = sources_.all().size();
    if (up == all) {
        return healthy;
    }
    return up == 0 ? 1 : static_cast<std::uint8_t>(2 + (best_degraded - 2) * up / all);
}

}  // namespace tagferry::gateway
