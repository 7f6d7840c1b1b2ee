// Whether a request is for this server: the defence against names that are made to point here.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tagferry::web {

/// A page of another site can let its own name point to this machine and then read, in its
/// visitor's browser, whatever answers to that name. So only what cannot be such a name is served:
/// address literals, `localhost` and names below it, and the names of the configuration.
/// @param host value of a Host field, with or without a port; empty (HTTP/1.0) is fine.
bool is_own_host(std::string_view host, std::span<const std::string> names) noexcept;

}  // namespace tagferry::web
