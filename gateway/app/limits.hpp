// From the described limits of the configuration to those of the rooms below.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/tags/tag_table.hpp"
#include "transport/net/listener.hpp"

namespace tagferry::gateway {

tag_table_limits table_limits_of(const config::process_limits& from);

/// Addresses and admission limits of a listener; the counters are the caller's.
transport::listener_options listener_options_of(const std::vector<config::listen_address>& listen,
                                                std::size_t connections,
                                                std::size_t connections_per_address);

}  // namespace tagferry::gateway
