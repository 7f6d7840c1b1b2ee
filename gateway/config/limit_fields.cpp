// The limits of the description: each with its unit, range and the metric that shows its use.
#include "gateway/config/configuration.hpp"
#include "gateway/config/fields.hpp"
#include "web/backend/values.hpp"

#include <array>

namespace tagferry::gateway::config {

namespace {

using opcua_limits = tagferry::opcua::limits;
using tagferry::web::http_limits;

constexpr std::array opcua_fields = {
    integer_field<&opcua_limits::chunk_size>(
        "chunk_size", "Size of one pooled buffer: the largest chunk in either direction.")
        .in("bytes")
        .from(8'192, 1'048'576),
    integer_field<&opcua_limits::pre_hello_chunk_size>(
        "pre_hello_chunk_size", "Largest HEL, before anything is negotiated.")
        .in("bytes")
        .from(8'192, 65'536),
    integer_field<&opcua_limits::max_request_chunks>("max_request_chunks", "Chunks of one request.")
        .from(1, 1'024),
    integer_field<&opcua_limits::max_request_size>("max_request_size", "Largest request.")
        .in("bytes")
        .from(65'536, 67'108'864),
    integer_field<&opcua_limits::max_response_chunks>(
        "max_response_chunks", "Chunks of one response; the client may ask for fewer.")
        .from(1, tagferry::opcua::most_response_chunks),
    integer_field<&opcua_limits::max_url_length>("max_url_length", "Longest endpoint URL.")
        .in("bytes")
        .from(256, 4'096),
    integer_field<&opcua_limits::max_policy_uri_length>("max_policy_uri_length",
                                                        "Longest security policy URI.")
        .in("bytes")
        .from(64, 255),
    integer_field<&opcua_limits::max_nesting_depth>("max_nesting_depth",
                                                    "Nested variants and extension objects.")
        .from(8, 100),
    integer_field<&opcua_limits::max_array_length>("max_array_length", "Elements of one array.")
        .from(64, 1'048'576),
    integer_field<&opcua_limits::max_string_length>("max_string_length", "Longest text.")
        .in("bytes")
        .from(256, 16'777'216),
    integer_field<&opcua_limits::max_byte_string_length>("max_byte_string_length",
                                                         "Longest byte string.")
        .in("bytes")
        .from(256, 16'777'216),
    integer_field<&opcua_limits::max_channels>("max_channels",
                                               "Connections and their secure channels.")
        .from(1, 10'000)
        .measured_by("tagferry_transport_connections{protocol=\"opcua\"}"),
    integer_field<&opcua_limits::max_channels_per_address>("max_channels_per_address",
                                                           "The same for one client address.")
        .from(1, 10'000)
        .measured_by("tagferry_opcua_rejected_connections_total{reason=\"address_limit\"}"),
    integer_field<&opcua_limits::hello_timeout_ms>("hello_timeout_ms", "From connection to HEL.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&opcua_limits::open_timeout_ms>("open_timeout_ms", "From HEL to OPN.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&opcua_limits::frame_timeout_ms>("frame_timeout_ms",
                                                   "From the first to the last byte of a chunk.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&opcua_limits::message_timeout_ms>(
        "message_timeout_ms", "From the first to the final chunk of a message.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&opcua_limits::min_token_lifetime_ms>("min_token_lifetime_ms",
                                                        "Shortest lifetime of a security token.")
        .in("ms")
        .from(1'000, 86'400'000),
    integer_field<&opcua_limits::max_token_lifetime_ms>("max_token_lifetime_ms",
                                                        "Longest lifetime of a security token.")
        .in("ms")
        .from(1'000, 86'400'000),
    integer_field<&opcua_limits::pipelined_responses>("pipelined_responses",
                                                      "Messages queued on one channel.")
        .from(1, 4'096),
    integer_field<&opcua_limits::max_sessions>("max_sessions", "Sessions.")
        .from(1, 10'000)
        .measured_by("tagferry_opcua_sessions"),
    integer_field<&opcua_limits::min_session_timeout_ms>("min_session_timeout_ms",
                                                         "Shortest session timeout.")
        .in("ms")
        .from(1'000, 86'400'000),
    integer_field<&opcua_limits::max_session_timeout_ms>("max_session_timeout_ms",
                                                         "Longest session timeout.")
        .in("ms")
        .from(1'000, 86'400'000),
    integer_field<&opcua_limits::activation_timeout_ms>("activation_timeout_ms",
                                                        "From CreateSession to ActivateSession.")
        .in("ms")
        .from(1'000, 600'000),
    integer_field<&opcua_limits::max_session_name_length>("max_session_name_length",
                                                          "Longest session name.")
        .in("bytes")
        .from(16, 4'096),
    integer_field<&opcua_limits::max_locale_ids>("max_locale_ids", "Locales a session may ask for.")
        .from(1, 256),
    integer_field<&opcua_limits::max_locale_length>("max_locale_length",
                                                    "Longest locale id kept; longer ones are cut.")
        .in("bytes")
        .from(8, 256),
    integer_field<&opcua_limits::max_pending_operations>(
        "max_pending_operations", "Requests not answered in their turn, in all.")
        .from(1, 100'000)
        .measured_by("tagferry_opcua_pending_operations"),
    integer_field<&opcua_limits::max_pending_operations_per_session>(
        "max_pending_operations_per_session", "The same for one session.")
        .from(1, 1'000),
    integer_field<&opcua_limits::max_pending_writes>("max_pending_writes",
                                                     "Write requests that wait for their devices.")
        .from(1, 1'000)
        .measured_by("tagferry_pool_high_water{pool=\"opcua_write\"}"),
    integer_field<&opcua_limits::max_continuation_points>("max_continuation_points",
                                                          "Unfinished Browse answers, in all.")
        .from(1, 100'000)
        .measured_by("tagferry_opcua_continuation_points"),
    integer_field<&opcua_limits::max_continuation_points_per_session>(
        "max_continuation_points_per_session", "The same for one session.")
        .from(1, 1'000),
    integer_field<&opcua_limits::max_registered_nodes>("max_registered_nodes",
                                                       "Registered nodes, in all.")
        .from(1, tagferry::opcua::most_registered_nodes)
        .measured_by("tagferry_opcua_registered_nodes"),
    integer_field<&opcua_limits::max_subscriptions>("max_subscriptions",
                                                    "Subscriptions of all sessions.")
        .from(1, tagferry::opcua::most_subscriptions)
        .measured_by("tagferry_opcua_subscriptions"),
    integer_field<&opcua_limits::max_subscriptions_per_session>("max_subscriptions_per_session",
                                                                "Subscriptions of one session.")
        .from(1, tagferry::opcua::most_subscriptions),
    integer_field<&opcua_limits::min_publishing_interval_ms>("min_publishing_interval_ms",
                                                             "Shortest publishing interval.")
        .in("ms")
        .from(1, 3'600'000),
    integer_field<&opcua_limits::max_publishing_interval_ms>("max_publishing_interval_ms",
                                                             "Longest publishing interval.")
        .in("ms")
        .from(1'000, 86'400'000),
    integer_field<&opcua_limits::max_keep_alive_count>(
        "max_keep_alive_count", "Silent publishing intervals before a keep-alive, at most.")
        .from(1, 1'000'000),
    integer_field<&opcua_limits::max_lifetime_count>(
        "max_lifetime_count",
        "Publishing intervals that a subscription lives without a Publish, at most; three times "
        "max_keep_alive_count or more.")
        .from(3, 3'000'000),
    integer_field<&opcua_limits::max_notifications_per_message>(
        "max_notifications_per_message",
        "Notifications in one message; the client may ask for fewer.")
        .from(1, 100'000),
    integer_field<&opcua_limits::max_publish_requests_per_session>(
        "max_publish_requests_per_session",
        "Publish requests held for one session; of more, the oldest is refused.")
        .from(1, 10'000),
    integer_field<&opcua_limits::max_publish_requests>("max_publish_requests",
                                                       "Publish requests held, of all sessions.")
        .from(1, 1'000'000)
        .measured_by("tagferry_opcua_publish_requests"),
    integer_field<&opcua_limits::max_acknowledgements>("max_acknowledgements",
                                                       "Acknowledgements in one Publish.")
        .from(1, tagferry::opcua::most_acknowledgements),
    integer_field<&opcua_limits::max_unsent_messages>(
        "max_unsent_messages",
        "Chunks queued on a channel beyond which a slow client is not published to.")
        .from(1, 1'024),
    integer_field<&opcua_limits::max_monitored_items>("max_monitored_items",
                                                      "Monitored items of all subscriptions.")
        .from(1, tagferry::opcua::most_monitored_items)
        .measured_by("tagferry_opcua_monitored_items"),
    integer_field<&opcua_limits::max_monitored_items_per_subscription>(
        "max_monitored_items_per_subscription", "Monitored items of one subscription.")
        .from(1, tagferry::opcua::most_monitored_items),
    integer_field<&opcua_limits::max_item_queue_size>("max_item_queue_size",
                                                      "Values in the queue of one item.")
        .from(1, 1'000'000),
    integer_field<&opcua_limits::min_sampling_interval_ms>(
        "min_sampling_interval_ms",
        "Sampling of values of the server itself; tags have their scans.")
        .in("ms")
        .from(10, 60'000),
    integer_field<&opcua_limits::max_sampling_interval_ms>("max_sampling_interval_ms",
                                                           "Slowest sampling of an item.")
        .in("ms")
        .from(1'000, 604'800'000),
    integer_field<&opcua_limits::max_triggering_links>("max_triggering_links",
                                                       "Links made by SetTriggering.")
        .from(1, 1'000'000),
    integer_field<&opcua_limits::max_retransmission_messages>(
        "max_retransmission_messages",
        "Messages of one subscription kept for Republish until they are acknowledged.")
        .from(1, 10'000),
    integer_field<&opcua_limits::max_queue_bytes>("max_queue_bytes",
                                                  "Memory of all item queues, taken as used.")
        .in("bytes")
        .from(65'536, 4'294'967'296)
        .measured_by("tagferry_opcua_queue_bytes"),
    integer_field<&opcua_limits::max_retransmission_bytes>(
        "max_retransmission_bytes", "Memory of all messages kept for Republish, taken as used.")
        .in("bytes")
        .from(65'536, 4'294'967'296)
        .measured_by("tagferry_opcua_retransmission_bytes"),
    integer_field<&opcua_limits::max_encoded_value_bytes>("max_encoded_value_bytes",
                                                          "Largest value of a queue, encoded.")
        .in("bytes")
        .from(65'536, 67'108'864),
    integer_field<&opcua_limits::max_nodes_per_read>("max_nodes_per_read", "Nodes of one Read.")
        .from(1, 100'000),
    integer_field<&opcua_limits::max_nodes_per_write>("max_nodes_per_write", "Nodes of one Write.")
        .from(1, 100'000),
    integer_field<&opcua_limits::max_nodes_per_browse>("max_nodes_per_browse",
                                                       "Nodes of one Browse.")
        .from(1, 100'000),
    integer_field<&opcua_limits::max_nodes_per_register>("max_nodes_per_register",
                                                         "Nodes of one RegisterNodes.")
        .from(1, 100'000),
    integer_field<&opcua_limits::max_nodes_per_translate>(
        "max_nodes_per_translate", "Paths of one TranslateBrowsePathsToNodeIds.")
        .from(1, 100'000),
    integer_field<&opcua_limits::max_monitored_items_per_call>(
        "max_monitored_items_per_call", "Items of one request of the MonitoredItem services.")
        .from(1, 100'000),
    integer_field<&opcua_limits::max_browse_path_elements>("max_browse_path_elements",
                                                           "Elements of one browse path.")
        .from(1, 1'024),
    integer_field<&opcua_limits::max_references_per_path>(
        "max_references_per_path", "References looked at while following one browse path.")
        .in("references")
        .from(1, 1'000'000),
    integer_field<&opcua_limits::max_references_per_node>(
        "max_references_per_node", "References of one node in one Browse answer.")
        .from(1, 1'000'000),
    integer_field<&opcua_limits::turn_items>("turn_items",
                                             "Items handled before a request yields to others.")
        .from(16, 10'000),
    integer_field<&opcua_limits::turn_us>("turn_us", "Time after which a request yields to others.")
        .in("µs")
        .from(20, 10'000),
    integer_field<&opcua_limits::turn_frames>("turn_frames", "Chunks handled in one receive.")
        .from(1, 1'024),
    integer_field<&opcua_limits::request_slots>("request_slots",
                                                "Pool of request buffers, each `chunk_size`.")
        .from(4, 100'000)
        .measured_by("tagferry_pool_high_water{pool=\"opcua_request\"}"),
    integer_field<&opcua_limits::assembly_slots>("assembly_slots",
                                                 "Pool of buffers for requests of several chunks, "
                                                 "each `max_request_size`.")
        .from(1, 10'000)
        .measured_by("tagferry_pool_high_water{pool=\"opcua_assembly\"}"),
    integer_field<&opcua_limits::response_slots>("response_slots",
                                                 "Pool of response buffers, each `chunk_size`.")
        .from(4, 100'000)
        .measured_by("tagferry_pool_high_water{pool=\"opcua_response\"}"),
};

constexpr std::array web_fields = {
    integer_field<&http_limits::connections>("connections", "Connections, in all.")
        .from(1, 100'000)
        .measured_by("tagferry_transport_connections{protocol=\"http\"}"),
    integer_field<&http_limits::connections_per_address>("connections_per_address",
                                                         "Connections of one client address.")
        .from(1, 100'000)
        .measured_by("tagferry_transport_refused_total{protocol=\"http\"}"),
    integer_field<&http_limits::head_size>("head_size", "Request line and headers; over it: 431.")
        .in("bytes")
        .from(1'024, 8'192),
    integer_field<&http_limits::target_size>("target_size",
                                             "Path and query, less than `head_size`; over it: 414.")
        .in("bytes")
        .from(256, 8'191),
    integer_field<&http_limits::field_count>("field_count",
                                             "Header lines of one request; over it: 431.")
        .from(8, 1'024),
    integer_field<&http_limits::body_size>("body_size", "Largest body of a request; over it: 413.")
        .in("bytes")
        .from(1'024, 67'108'864),
    integer_field<&http_limits::chunk_line_size>(
        "chunk_line_size", "One chunk line with its extensions, or all trailers of a request.")
        .in("bytes")
        .from(64, 8'191),
    integer_field<&http_limits::requests_per_turn>(
        "requests_per_turn", "Pipelined requests of one connection before others have a turn.")
        .from(1, 256),
    integer_field<&http_limits::output_slot_size>("output_slot_size",
                                                  "Size of one pooled response buffer.")
        .in("bytes")
        .from(4'096, 1'048'576),
    integer_field<&http_limits::output_slots>("output_slots",
                                              "Pool of response buffers, at least "
                                              "`connection_output_slots`.")
        .from(4, 100'000)
        .measured_by("tagferry_pool_high_water{pool=\"http_response\"}"),
    integer_field<&http_limits::connection_output_slots>(
        "connection_output_slots", "Response buffers of one connection: one answer's cap.")
        .from(2, tagferry::web::max_connection_output_slots),
    integer_field<&http_limits::output_high_water_slots>(
        "output_high_water_slots",
        "Response buffers of one connection, less than `connection_output_slots`, from which on "
        "it is not read.")
        .from(1, tagferry::web::max_connection_output_slots - 1),
    integer_field<&http_limits::request_slots>(
        "request_slots", "Pool of requests kept for a body, a list or an answer of a PLC.")
        .from(1, 10'000)
        .measured_by("tagferry_pool_high_water{pool=\"http_request\"}"),
    integer_field<&http_limits::list_limit_default>("list_limit_default",
                                                    "Items of a list when `limit` is not given.")
        .from(1, 100'000),
    integer_field<&http_limits::list_limit_max>("list_limit_max", "Items of a list at most.")
        .from(1, 100'000),
    integer_field<&http_limits::tags_per_request>("tags_per_request",
                                                  "`tag=` parameters of one request.")
        .from(1, tagferry::web::values::max_refresh_tags),
    integer_field<&http_limits::scrapes>("scrapes", "Answers of /metrics being made at once.")
        .from(1, 16),
    integer_field<&http_limits::stream_sockets>("stream_sockets",
                                                "WebSocket clients of the stream; over it: 503.")
        .from(1, 100'000)
        .measured_by("tagferry_ws_clients"),
    integer_field<&http_limits::stream_subscriptions>("stream_subscriptions",
                                                      "Subscriptions of one stream client.")
        .from(1, 1'000),
    integer_field<&http_limits::stream_tags>("stream_tags", "Tags of one subscription.")
        .from(1, 10'000'000),
    integer_field<&http_limits::stream_entries>("stream_entries",
                                                "Tags of all subscriptions together.")
        .from(1, 100'000'000)
        .measured_by("tagferry_ws_entries"),
    integer_field<&http_limits::stream_message_size>("stream_message_size",
                                                     "Largest message of a client; over it: 1009.")
        .in("bytes")
        .from(256, 1'048'576)
        .measured_by("tagferry_pool_high_water{pool=\"ws_message\"}"),
    integer_field<&http_limits::stream_pattern_size>("stream_pattern_size",
                                                     "All patterns of one subscription together.")
        .in("bytes")
        .from(16, 1'048'576),
    integer_field<&http_limits::stream_high_water_slots>(
        "stream_high_water_slots",
        "Response buffers of one stream client, less than `connection_output_slots`, from which "
        "on it gets no more until some have left.")
        .from(1, tagferry::web::max_connection_output_slots - 1),
    integer_field<&http_limits::stream_interval_min_ms>(
        "stream_interval_min_ms", "Shortest time between two deltas of a subscription.")
        .in("ms")
        .from(1, 60'000),
    integer_field<&http_limits::stream_slow_ms>(
        "stream_slow_ms", "A client that takes nothing for so long is closed with 4429.")
        .in("ms")
        .from(100, 3'600'000)
        .measured_by("tagferry_ws_slow_clients_closed_total"),
    integer_field<&http_limits::stream_message_ms>("stream_message_ms",
                                                   "First to last frame of a client's message.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&http_limits::stream_ping_ms>("stream_ping_ms", "Between two pings.")
        .in("ms")
        .from(100, 3'600'000),
    integer_field<&http_limits::stream_silence_ms>(
        "stream_silence_ms", "A client of which nothing is heard for so long is closed.")
        .in("ms")
        .from(100, 3'600'000),
    integer_field<&http_limits::head_timeout_ms>("head_timeout_ms",
                                                 "From the first byte to the end of the headers.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&http_limits::body_timeout_ms>("body_timeout_ms",
                                                 "From the end of the headers to that of the body.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&http_limits::idle_timeout_ms>("idle_timeout_ms", "Between two requests.")
        .in("ms")
        .from(1'000, 3'600'000),
    integer_field<&http_limits::send_timeout_ms>("send_timeout_ms",
                                                 "Without a byte of an answer leaving.")
        .in("ms")
        .from(100, 600'000),
    integer_field<&http_limits::answer_timeout_ms>("answer_timeout_ms",
                                                   "Of an answer that waits for a PLC.")
        .in("ms")
        .from(100, 600'000),
};

constexpr std::array process_fields = {
    integer_field<&process_limits::connections>("connections", "PLC links.")
        .from(1, 1'000)
        .measured_by("tagferry_connections"),
    integer_field<&process_limits::tags>("tags", "Tags, in all.")
        .from(1, 10'000'000)
        .measured_by("tagferry_tags"),
    integer_field<&process_limits::tags_per_connection>("tags_per_connection",
                                                        "Tags of one connection.")
        .from(1, 1'000'000),
    integer_field<&process_limits::value_bytes>("value_bytes", "Largest value of one tag.")
        .in("bytes")
        .from(8, 65'536),
    integer_field<&process_limits::sample_ring_bytes>(
        "sample_ring_bytes",
        "Samples queued, by each shard with PLC links, for clients that want every one.")
        .in("bytes")
        .from(4'096, 1'073'741'824)
        .measured_by("tagferry_feed_lost_samples_total"),
    integer_field<&process_limits::pending_writes_per_connection>("pending_writes_per_connection",
                                                                  "Writes waiting for one PLC.")
        .from(1, most_pending_writes)
        .measured_by("tagferry_pending_writes"),
    integer_field<&process_limits::pending_device_reads_per_connection>(
        "pending_device_reads_per_connection", "Reads on request waiting for one PLC.")
        .from(1, 1'024)
        .measured_by("tagferry_pending_device_reads"),
    integer_field<&process_limits::web_tokens>("web_tokens", "Tokens in `web.tokens`.")
        .from(1, 1'000),
    integer_field<&process_limits::mailbox_entries>("mailbox_entries",
                                                    "Tasks waiting for one shard.")
        .from(64, 1'048'576)
        .measured_by("tagferry_shard_tasks_refused_total"),
    integer_field<&process_limits::worker_threads>("worker_threads", "Threads for slow work.")
        .from(1, 16),
    integer_field<&process_limits::worker_jobs>("worker_jobs", "Jobs waiting for those threads.")
        .from(16, 65'536)
        .measured_by("tagferry_worker_jobs_total{ending=\"refused\"}"),
    integer_field<&process_limits::log_ring_entries>(
        "log_ring_entries", "Log lines waiting to be written; more are dropped and counted.")
        .from(64, 1'048'576)
        .measured_by("tagferry_log_dropped_total"),
};

constexpr object_description opcua_object = {
    "opcua_limits", "Capacities of the OPC UA server. What it advertises is what it enforces.",
    opcua_fields};
constexpr object_description web_object = {"web_limits", "Capacities of the web server.",
                                           web_fields};
constexpr object_description process_object = {"limits", "Capacities of the whole process.",
                                               process_fields};

}  // namespace

const object_description& opcua_limits_description() noexcept {
    return opcua_object;
}
const object_description& web_limits_description() noexcept {
    return web_object;
}
const object_description& process_limits_description() noexcept {
    return process_object;
}

}  // namespace tagferry::gateway::config
