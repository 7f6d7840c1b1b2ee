// A subscription as its server keeps it (Part 4 §5.14.1).
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/subscription/retransmission.hpp"
#include "transport/time/clock.hpp"
#include "transport/time/intrusive_list.hpp"
#include "transport/time/timing_wheel.hpp"

#include <cstdint>
#include <string>

namespace tagferry::opcua {

struct subscription;

/// Whoever acts on the publishing cycle of a subscription.
class cycle_listener {
  public:
    virtual void cycle(subscription& which, transport::time_point now) = 0;

  protected:
    ~cycle_listener() = default;
};

/// What a client asks of a subscription and may modify, as asked or as revised.
struct subscription_parameters {
    double publishing_interval_ms = 0;
    std::uint32_t lifetime_count = 0;
    std::uint32_t keep_alive_count = 0;
    std::uint32_t max_notifications = 0;  ///< of one message; 0: the server decides
    std::uint8_t priority = 0;
};

struct session_list {};  // tags of the lists a subscription is in
struct work_list {};

struct subscription : transport::list_hook<session_list>, transport::list_hook<work_list> {
    explicit subscription(cycle_listener& listener) noexcept : timer(*this, listener) {}

    std::uint32_t id = 0;
    std::uint32_t place = 0;           ///< in the table
    std::uint32_t session_number = 0;  ///< 0: its session is gone, its lifetime runs
    std::uint32_t session_index = 0;
    std::string user{};  ///< whose it is; empty: anonymous
    std::string client_uri{};
    subscription_parameters settings{};
    transport::duration interval{};
    bool publishing_enabled = true;
    bool is_closing = false;            ///< its items are being taken away
    bool has_sent = false;              ///< a message since it was created
    bool is_due = false;                ///< its cycle has come and nobody has looked yet
    bool is_waiting = false;            ///< has something to say and waits for a Publish (LATE)
    std::uint64_t waits_since = 0;      ///< order in which they began to wait
    std::uint32_t silent_cycles = 0;    ///< since the last message (keep-alive counter)
    std::uint32_t deserted_cycles = 0;  ///< without a Publish request (lifetime counter)
    std::uint32_t next_sequence = 1;

    // Items, by number in their slab.
    std::uint32_t first_item = 0;
    std::uint32_t item_count = 0;
    std::uint32_t first_ready = 0;
    std::uint32_t last_ready = 0;
    std::uint32_t first_deferred = 0;
    std::uint32_t last_deferred = 0;
    std::uint32_t deferred_count = 0;
    std::uint32_t resend_at = 0;  ///< the item from which on the values are still to be sent again
    transport::time_point changed_at{};  ///< when the oldest change in `ready` was seen
    retransmission_list sent{};

    struct cycle_timer final : transport::wheel_timer {
        cycle_timer(subscription& of, cycle_listener& to) noexcept : owner(of), listener(to) {}
        void fire(transport::time_point now) override { listener.cycle(owner, now); }
        subscription& owner;
        cycle_listener& listener;
    };
    cycle_timer timer;
};

}  // namespace tagferry::opcua
