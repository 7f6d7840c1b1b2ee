// What of a new configuration a running gateway cannot take over.
#pragma once

#include "gateway/config/configuration.hpp"

#include <string>
#include <vector>

namespace tagferry::gateway {

/// One line for each difference between the two other than tags, their side files and scan
/// classes: `connections.press.host`, `connections.press: added`. Empty when there is none.
/// @param now,next not changed; the description of the fields reaches members of objects that are
///   not constant only.
std::vector<std::string> restart_needed_for(config::configuration& now,
                                            config::configuration& next);

}  // namespace tagferry::gateway
