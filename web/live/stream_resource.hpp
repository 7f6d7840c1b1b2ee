// `GET /api/v1/stream`: the handshake that turns a connection into a WebSocket (RFC 6455, 4.2).
#pragma once

#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"
#include "web/live/stream_hub.hpp"

#include <string_view>

namespace tagferry::web {

/// The one subprotocol that is spoken.
inline constexpr std::string_view stream_subprotocol = "tagferry.v1.json";

class stream_resource final : public resource {
  public:
    explicit stream_resource(stream_hub& hub) noexcept : hub_(hub) {}

    progress begin(exchange& with) override;

  private:
    stream_hub& hub_;
};

}  // namespace tagferry::web
