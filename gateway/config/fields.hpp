// The description of every field of the configuration.
#pragma once

#include "gateway/config/field.hpp"

namespace tagferry::gateway::config {

/// The outermost object. Everything else is reached through it.
const object_description& configuration_description() noexcept;

/// One tag, as it stands inline, in a side file's JSON, and as the columns of a CSV file.
const object_description& tag_description() noexcept;

/// `opcua.limits`, `web.limits` and `limits`.
const object_description& opcua_limits_description() noexcept;
const object_description& web_limits_description() noexcept;
const object_description& process_limits_description() noexcept;

}  // namespace tagferry::gateway::config
