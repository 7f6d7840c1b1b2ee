// Every bound of the OPC UA server, in one place. What is advertised (OperationLimits,
// ServerCapabilities), what is enforced and what is reported as a metric come from here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

/// Times in ms, sizes in bytes.
struct limits {
    // Messages. One chunk fills one pooled buffer.
    std::uint32_t chunk_size = 65'536;  ///< of a pooled buffer, either direction; ≥ 8,192
    std::uint32_t pre_hello_chunk_size = 8'192;  ///< largest HEL, before anything is negotiated
    std::uint32_t max_request_chunks = 32;       ///< MaxChunkCount of the ACK
    std::uint32_t max_request_size = 2'097'152;  ///< MaxMessageSize of the ACK: 32 chunks
    std::uint32_t max_response_chunks = 32;      ///< longest answer; the client may ask for less
    std::uint32_t max_url_length = 4'096;        ///< Part 6 §7.1.2.3
    std::uint32_t max_policy_uri_length = 255;   ///< Part 6 §6.7.2.3

    // Decoding.
    std::uint32_t max_nesting_depth = 64;              ///< Variant, DataValue, ExtensionObject, …
    std::uint32_t max_array_length = 65'536;           ///< elements of any array; MaxArrayLength
    std::uint32_t max_string_length = 65'536;          ///< bytes; MaxStringLength
    std::uint32_t max_byte_string_length = 1'048'576;  ///< bytes; MaxByteStringLength

    // Connections and channels.
    std::uint32_t max_channels = 120;  ///< sessions + 20 for logins and discovery
    std::uint32_t max_channels_per_address = 100;  ///< the rest stays free for others
    std::uint32_t hello_timeout_ms = 5'000;   ///< accept → HEL complete (RX8)
    std::uint32_t open_timeout_ms = 10'000;   ///< HEL → OPN complete (RX8)
    std::uint32_t frame_timeout_ms = 10'000;  ///< first to last byte of a chunk (RX8): the driver's
    std::uint32_t message_timeout_ms = 20'000;  ///< first to final chunk of a message (RX8)
    std::uint32_t min_token_lifetime_ms = 10'000;
    std::uint32_t max_token_lifetime_ms = 3'600'000;
    std::uint32_t pipelined_responses = 64;  ///< messages queued on one channel (TX9)

    // Sessions.
    std::uint32_t max_sessions = 100;
    std::uint32_t min_session_timeout_ms = 10'000;  ///< E11
    std::uint32_t max_session_timeout_ms = 3'600'000;
    std::uint32_t activation_timeout_ms = 30'000;  ///< CreateSession → ActivateSession
    std::uint32_t max_session_name_length = 256;
    std::uint32_t max_locale_ids = 16;
    std::uint32_t max_locale_length = 32;        ///< bytes of one; longer ones are cut
    std::uint32_t max_pending_operations = 256;  ///< deferred requests, whole server
    std::uint32_t max_pending_operations_per_session = 16;
    std::uint32_t max_pending_writes = 32;        ///< of them: Write requests with their devices
    std::uint32_t max_continuation_points = 400;  ///< whole server: 100 sessions × 4
    std::uint32_t max_continuation_points_per_session = 16;
    std::uint32_t max_registered_nodes = 200'000;  ///< whole server

    // Subscriptions and monitored items.
    std::uint32_t max_subscriptions = 1'000;  ///< whole server
    std::uint32_t max_subscriptions_per_session = 100;
    std::uint32_t min_publishing_interval_ms = 10;
    std::uint32_t max_publishing_interval_ms = 3'600'000;
    std::uint32_t max_keep_alive_count = 10'000;
    std::uint32_t max_lifetime_count = 100'000;  ///< ≥ 3 × max_keep_alive_count
    std::uint32_t max_notifications_per_message = 1'000;
    std::uint32_t max_publish_requests_per_session = 128;  ///< a client keeps a few more than
                                                           ///< subscriptions (E42)
    std::uint32_t max_publish_requests = 4'096;            ///< whole server
    std::uint32_t max_acknowledgements = 512;              ///< of one Publish
    std::uint32_t max_unsent_messages = 8;  ///< on one channel, beyond which it is not published
    std::uint32_t max_monitored_items = 200'000;  ///< whole server
    std::uint32_t max_monitored_items_per_subscription = 100'000;
    std::uint32_t max_item_queue_size = 1'000;
    std::uint32_t min_sampling_interval_ms = 100;  ///< of values of the server itself
    std::uint32_t max_sampling_interval_ms = 86'400'000;
    std::uint32_t max_triggering_links = 4'000;      ///< whole server
    std::uint32_t max_retransmission_messages = 32;  ///< of one subscription
    // Address space; memory is taken as it is used and not given back.
    std::size_t max_queue_bytes = 67'108'864;           ///< of all item queues
    std::size_t max_retransmission_bytes = 33'554'432;  ///< of all messages kept
    std::size_t max_encoded_value_bytes = 1'048'576;    ///< largest value of a queue, encoded

    // Items in one request: OperationLimits.
    std::uint32_t max_nodes_per_read = 10'000;
    std::uint32_t max_nodes_per_write = 10'000;
    std::uint32_t max_nodes_per_browse = 1'000;
    std::uint32_t max_nodes_per_register = 10'000;
    std::uint32_t max_nodes_per_translate = 1'000;
    std::uint32_t max_monitored_items_per_call = 10'000;
    std::uint32_t max_browse_path_elements = 64;
    std::uint32_t max_references_per_path = 10'000;  ///< looked at while following one path
    std::uint32_t max_references_per_node = 10'000;  ///< one Browse result, asked for 0 = all

    // Turns.
    std::uint32_t turn_items = 256;  ///< items before a request yields
    std::uint32_t turn_us = 200;     ///< or this long
    std::uint32_t turn_frames = 64;  ///< chunks handled in one receive (RX13)

    // Pools: address space; pages are committed when a slot is first used.
    // Requests: one slot of chunk_size for each pending operation whose request is that small.
    std::size_t request_slots = 256;
    std::size_t assembly_slots = 16;  ///< of max_request_size, for messages of several chunks
    // Responses: one slot for each running request (max_channels 120) and each pending one
    // (max_pending_operations 256), and four answers of max_response_chunks on their way.
    std::size_t response_slots = 512;
};

/// What `max_response_chunks` may be at most: a response keeps a table of that size.
inline constexpr std::uint32_t most_response_chunks = 32;
/// What `max_registered_nodes` may be at most: a registered number keeps 18 bits for its place.
inline constexpr std::uint32_t most_registered_nodes = 1U << 18U;
/// What `max_subscriptions` may be at most: a SubscriptionId keeps 12 bits for its place.
inline constexpr std::uint32_t most_subscriptions = 4'095;
/// What `max_monitored_items` may be at most: a MonitoredItemId keeps 20 bits for its place.
inline constexpr std::uint32_t most_monitored_items = 1'048'575;
/// What `max_acknowledgements` may be at most: a held Publish keeps their results.
inline constexpr std::uint32_t most_acknowledgements = 512;

}  // namespace tagferry::opcua
