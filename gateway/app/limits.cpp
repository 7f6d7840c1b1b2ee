#include "gateway/app/limits.hpp"

#include <stdexcept>

namespace tagferry::gateway {

tag_table_limits table_limits_of(const config::process_limits& from) {
    tag_table_limits made;
    // Pages belong to connections, so each may leave one partly used.
    made.tags =
        (from.tags + tag_table::page_tags - 1) / tag_table::page_tags * tag_table::page_tags +
        from.connections * tag_table::page_tags;
    made.owners = from.connections;
    made.largest_value_bytes = from.value_bytes;
    return made;
}

transport::listener_options listener_options_of(const std::vector<config::listen_address>& listen,
                                                std::size_t connections,
                                                std::size_t connections_per_address) {
    transport::listener_options made;
    for (const config::listen_address& each : listen) {
        const auto address = transport::parse_host(each.host, each.port);
        if (!address) {
            throw std::invalid_argument("not a numeric address to listen on: " + each.host);
        }
        made.addresses.push_back(*address);
    }
    made.max_connections = connections;
    made.max_connections_per_address = connections_per_address;
    return made;
}

}  // namespace tagferry::gateway
