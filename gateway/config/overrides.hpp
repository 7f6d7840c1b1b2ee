// Values that stand over the file's: environment variables and flags.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/config/load.hpp"
#include "gateway/config/location.hpp"

#include <vector>

namespace tagferry::gateway::config {

/// Applies `TAGFERRY_SECTION__KEY` variables. One that fits no field is a warning, not an error:
/// container platforms put variables of their own into every process.
void apply_environment(const std::vector<assignment>& variables, configuration& value,
                       diagnostics& found);

/// Applies `section.key` flags. One that fits no field is an error.
void apply_flags(const std::vector<assignment>& flags, configuration& value, diagnostics& found);

}  // namespace tagferry::gateway::config
