// What no single field can say: whether the parts of a configuration fit together.
#pragma once

#include "gateway/config/address_checker.hpp"
#include "gateway/config/configuration.hpp"
#include "gateway/config/location.hpp"

namespace tagferry::gateway::config {

/// Fills what is worked out from other fields: listen addresses, the application URI, the default
/// scan class, each tag's scan class index and staleness, remote TSAPs.
void resolve(configuration& value);

/// Reports duplicate names and paths, unknown scan classes, addresses and types the protocol does
/// not know, tags that are groups too, ports taken twice, limits passed. Call after resolve().
void check(const configuration& value, const address_checker& addresses, diagnostics& found);

}  // namespace tagferry::gateway::config
