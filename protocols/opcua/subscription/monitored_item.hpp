// A monitored item as its server keeps it (Part 4 §5.13.1).
#pragma once

#include "protocols/opcua/backend/feed.hpp"
#include "protocols/opcua/encoding/index_range.hpp"
#include "protocols/opcua/nodes/address_space.hpp"
#include "protocols/opcua/subscription/data_change_filter.hpp"
#include "transport/time/clock.hpp"

#include <cstdint>

namespace tagferry::opcua {

/// MonitoringMode of Part 4 §7.23, with its numbers on the wire.
enum class monitoring_mode : std::uint8_t { disabled = 0, sampling = 1, reporting = 2 };

/// Where an item's samples come from.
enum class item_source : std::uint8_t {
    once,     ///< what it shows does not change: the initial value is all
    latest,   ///< the feed's mark that a tag has changed; its value is in the table
    queued,   ///< every sample of the feed
    sampled,  ///< asked for on a schedule, and compared: values of this server that live
};

/// Plain data in a slab. Items name each other by number; 0 is none.
struct monitored_item {
    // What a change touches.
    std::uint32_t tag_next = 0;  ///< items of the same tag, or of those sampled on a schedule
    std::uint32_t tag_generation = 0;
    std::uint32_t ready_next = 0;  ///< items of the subscription with something to report
    std::uint32_t ready_previous = 0;
    std::uint32_t subscription = 0;  ///< place in the table of subscriptions
    std::uint32_t tag_index = 0;
    std::uint32_t client_handle = 0;
    std::uint32_t first_link = 0;  ///< of the links this item triggers
    item_source source = item_source::once;
    monitoring_mode mode = monitoring_mode::disabled;
    /// Its one notification is the table's sample at the time of publishing, so nothing is queued:
    /// a queue of 1, and no filter that has to see every change.
    bool is_direct = false;
    bool is_dirty = false;     ///< changed, and what the table holds is not yet queued or reported
    bool is_ready = false;     ///< in the subscription's list of ready items
    bool is_deferred = false;  ///< in its list of items changed before their sampling time
    std::uint8_t timestamps = 0;
    bool discard_oldest = true;
    bool is_watched = false;                     ///< its tag is in the feed because of it
    transport::time_point next_sample{};         ///< not sampled before
    transport::wall_time_ns reported_time = -1;  ///< server time of the sample reported last

    // The rest.
    std::uint32_t id = 0;  ///< 0: free
    std::uint32_t next_free = 0;
    std::uint32_t reuse = 0;  ///< counts the lives of the record
    std::uint32_t tag_previous = 0;
    std::uint32_t own_next = 0;  ///< items of the subscription
    std::uint32_t own_previous = 0;
    node_key node{};
    std::uint32_t attribute_id = 0;
    index_range range{};
    data_change_filter filter{};
    bool is_numeric = false;       ///< a deadband means something
    bool has_last = false;         ///< a sample passed the filter since it was enabled
    bool has_lost = false;         ///< a sample found no memory: the next one is marked
    bool has_changed = false;      ///< among the samples passed over
    std::uint32_t period = 1;      ///< of the queued feed, every how many samples are taken
    std::uint32_t skip = 0;        ///< samples to pass over before the next one
    std::uint32_t link_count = 0;  ///< links that other items have to this one
    std::uint64_t fresh = 0;       ///< samples that were on their way then are older than the first
    double scan_ms = 0;            ///< how often its source has something new; 0: at any time
    double sampling_ms = 0;        ///< as revised
    std::uint32_t queue_size = 1;
    std::uint32_t queue_count = 0;
    std::uint32_t first_value = 0;  ///< of the queue, in the store of values
    std::uint32_t last_value = 0;
    std::uint32_t compared = 0;  ///< encoded Variant of the last sample that passed, where it is
                                 ///< needed to judge the next
    std::uint32_t compared_size = 0;
    status_code last_status = 0;
    transport::wall_time_ns last_source_time = 0;
};

/// One triggering link: `target` reports what it sampled when the item that owns the link triggers.
struct triggering_link {
    std::uint32_t target = 0;
    std::uint32_t next = 0;
    std::uint32_t next_free = 0;
};

/// What a client asks of an item and may modify (MonitoringParameters of Part 4 §7.21).
struct monitoring_parameters {
    std::uint32_t client_handle = 0;
    double sampling_ms = 0;
    data_change_filter filter{};
    status_code filter_status = 0;  ///< why the filter cannot be used at all
    std::uint32_t queue_size = 0;
    bool discard_oldest = true;
};

struct item_request {
    node_key node{};
    std::uint32_t attribute_id = 0;
    index_range range{};
    monitoring_mode mode = monitoring_mode::disabled;
    std::uint8_t timestamps = 0;
    monitoring_parameters parameters{};
};

/// What became of it.
struct item_answer {
    std::uint32_t id = 0;
    double revised_sampling_ms = 0;
    std::uint32_t revised_queue_size = 0;
};

}  // namespace tagferry::opcua
