// The text of a listen address.
#pragma once

#include "gateway/config/address_checker.hpp"
#include "gateway/config/configuration.hpp"

#include <optional>
#include <string_view>

namespace tagferry::gateway::config {

/// Splits `127.0.0.1:4840` or `[::1]:4840` into its parts; `localhost` becomes `127.0.0.1`.
/// Refuses what is not loopback: until security exists, every listener stays there.
/// `address.at` is left alone.
std::optional<text_fault> parse_listen_address(std::string_view text, listen_address& address);

}  // namespace tagferry::gateway::config
