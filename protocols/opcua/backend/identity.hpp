// Who this server is.
#pragma once

#include "transport/time/clock.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::opcua {

/// Views of static or immutable storage that outlives the server.
struct identity {
    std::string_view application_uri{};  ///< namespace 1 and ServerArray[0]
    std::string_view application_name{};
    std::string_view product_uri{};
    std::string_view manufacturer_name{};
    std::string_view product_name{};
    std::string_view software_version{};
    std::string_view build_number{};
    transport::wall_time_ns build_date = 0;
    transport::wall_time_ns start_time = 0;
};

/// Not deferring, not blocking; on the OPC UA shard.
class identity_backend {
  public:
    virtual const identity& who_we_are() const noexcept = 0;

    /// `opc.tcp://host:port` for every listening address a client can use, most preferred first.
    /// Not empty; never 0.0.0.0. The URL that a client dialled is answered before these, when it is
    /// one that could be dialled again (NAT, containers).
    virtual std::span<const std::string_view> endpoint_urls() const noexcept = 0;

    /// ServiceLevel of Part 4 §6.6.2: 0 maintenance, 1 no data, 2–199 degraded, 200–255 healthy.
    virtual std::uint8_t service_level() const noexcept = 0;

  protected:
    ~identity_backend() = default;
};

}  // namespace tagferry::opcua
