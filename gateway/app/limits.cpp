#include "gateway/app/limits.hpp"

#include <algorithm>
#include <chrono>
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

web::http_limits http_limits_of(const config::web_limits& from) {
    using std::chrono::milliseconds;
    web::http_limits made;
    // A head must fit the driver's staging buffer whole.
    made.head_size = std::min<std::size_t>(from.request_head_bytes, made.head_size);
    made.target_size = std::min<std::size_t>(from.request_target_bytes, made.target_size);
    made.body_size = std::min<std::size_t>(from.request_body_bytes, made.body_size);
    made.output_slot_size = from.response_buffer_bytes;
    made.output_slots = from.response_buffers;
    made.requests_per_turn = std::max<std::size_t>(from.requests_in_flight, 1);
    made.list_limit_max = from.values_per_page;
    made.list_limit_default = std::min<std::size_t>(made.list_limit_default, made.list_limit_max);
    made.scrapes = from.concurrent_scrapes;
    made.head_timeout = milliseconds(from.request_timeout_ms);
    made.idle_timeout = milliseconds(from.idle_timeout_ms);
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
