// Monitored items: what they watch, what of it is worth a notification, and which of them have
// something to report. A change costs the items of its tag and nothing else.
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/nodes/server_view.hpp"
#include "protocols/opcua/subscription/monitored_item.hpp"
#include "protocols/opcua/subscription/slab.hpp"
#include "protocols/opcua/subscription/subscription.hpp"
#include "protocols/opcua/subscription/value_queue.hpp"
#include "transport/time/turn_budget.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tagferry::opcua {

/// All calls on the OPC UA shard. Growing (new items, new tags) may allocate; what happens in
/// steady state does not.
class monitor {
  public:
    /// @param server what its nodes show. Everything in it and @param time outlive it. @param all
    /// the table of subscriptions: an item
    ///   knows its own by place.
    monitor(const server_view& server, const transport::clock& time,
            const std::vector<std::unique_ptr<subscription>>& all);

    // What clients ask for. Status codes are those of Part 4 §5.13.

    /// @return Good; BadTooManyMonitoredItems; BadAttributeIdInvalid, BadNodeIdUnknown;
    ///   BadFilterNotAllowed and the filter's own code.
    status_code create(const call& caller, subscription& to, const item_request& wanted,
                       item_answer& out);
    /// Changes what `parameters` says. BadMonitoredItemIdInvalid or the filter's code.
    status_code modify(const call& caller, subscription& of, std::uint32_t id,
                       std::uint8_t timestamps, const monitoring_parameters& wanted,
                       item_answer& out);
    status_code remove(const call& caller, subscription& of, std::uint32_t id);
    status_code set_mode(const call& caller, subscription& of, std::uint32_t id,
                         monitoring_mode mode);
    /// Links and unlinks (SetTriggering). BadMonitoredItemIdInvalid; adding what is linked already
    /// is Good; BadTooManyOperations when all links are taken.
    status_code link(subscription& of, std::uint32_t triggering, std::uint32_t target);
    status_code unlink(subscription& of, std::uint32_t triggering, std::uint32_t target);
    bool has(const subscription& of, std::uint32_t id) const noexcept { return find(of, id) != 0; }

    /// Takes items away until none is left or the budget is used up. False: call again.
    bool remove_all(subscription& of, transport::turn_budget& budget);
    /// Has every reporting item send its value again (Part 5 §9.2, TransferSubscriptions), from
    /// `of.resend_at` on, within the budget. False: call again.
    bool resend(subscription& of, transport::turn_budget& budget);

    // What is new.

    /// Takes what the feed has, within the budget. @param since when the feed said so.
    /// @return true when it is empty.
    bool drain(transport::time_point since, transport::time_point now,
               transport::turn_budget& budget);
    /// Asks the values that are sampled on a schedule and are due. False: call again.
    bool take_samples(transport::time_point now, transport::turn_budget& budget);
    /// Whether anything is sampled on a schedule.
    bool has_sampled() const noexcept { return first_sampled_ != 0; }
    /// Whether some item has to see every change; else it is enough to drain before publishing.
    bool must_see_all() const noexcept { return seeing_all_ != 0; }
    /// Looks again at the items of a subscription that changed before their sampling time.
    /// False: call again.
    bool take_deferred(subscription& of, transport::time_point now, transport::turn_budget& budget);

    // What is to report.

    enum class written : std::uint8_t {
        yes,      ///< one notification
        no,       ///< nothing: it had been reported already; the item is done with
        no_room,  ///< it does not fit into `room`; nothing was written, the item stays first
    };
    /// Writes the MonitoredItemNotification of the first ready item, and takes it off the list when
    /// it has no more. Only while `of.first_ready` is not 0.
    /// @param room bytes that may be written.
    /// @param whole the message is empty: what does not fit even so loses its value and says why.
    written write_next(subscription& of, encoder& out, std::size_t room, bool whole,
                       transport::time_point now);

    // Any thread.
    std::uint64_t item_count() const noexcept { return item_count_.value(); }
    std::uint64_t overflows() const noexcept { return overflows_.value(); }
    std::uint64_t queue_bytes() const noexcept { return values_.used_bytes(); }

  private:
    struct facts;

    std::uint32_t find(const subscription& of, std::uint32_t id) const noexcept;
    status_code learn(const call& caller, const item_request& wanted, facts& out);
    void configure(monitored_item& item, const subscription& of,
                   const monitoring_parameters& wanted, item_answer& out);
    std::uint32_t new_item(subscription& to, const item_request& wanted, const facts& known);
    void remove_item(const call& caller, subscription& of, std::uint32_t number);

    bool start(const call& caller, subscription& of, std::uint32_t number);
    void stop(const call& caller, subscription& of, std::uint32_t number);
    bool watch(const call& caller, std::uint32_t number);
    void unwatch(const call& caller, std::uint32_t number);
    void first_sample(const call& caller, std::uint32_t number);
    void set_next_sample(monitored_item& item, transport::time_point now) noexcept;
    void link_to_tag(std::uint32_t number);
    void link_to_sampled(std::uint32_t number, transport::time_point now);

    void changed(std::uint32_t number, transport::time_point now);
    void queued(std::uint32_t number, const feed_sample& from);
    void sample_tag(std::uint32_t number, transport::time_point now);
    encoded_value encode(const monitored_item& item, const sample& from) noexcept;
    encoded_value ask(const call& caller, const monitored_item& item);
    encoded_value ask_attribute(const call& caller, const monitored_item& item);
    void offer(std::uint32_t number, const encoded_value& value);
    bool passes(monitored_item& item, const encoded_value& value) noexcept;

    subscription& of(const monitored_item& item) const noexcept {
        return *subscriptions_[item.subscription];
    }
    bool has_something(const monitored_item& item) const noexcept {
        return item.is_direct ? item.is_dirty : item.queue_count != 0;
    }
    void notify(std::uint32_t number);
    void trigger(const monitored_item& item);
    void make_ready(std::uint32_t number);
    void take_ready(std::uint32_t number) noexcept;
    void defer(std::uint32_t number) noexcept;
    void take_off_list(std::uint32_t& first, std::uint32_t& last, std::uint32_t number) noexcept;
    void put_on_list(std::uint32_t& first, std::uint32_t& last, std::uint32_t number) noexcept;
    void drop_links(monitored_item& item) noexcept;
    void drop_links_to(subscription& of, std::uint32_t number) noexcept;
    written write_direct(monitored_item& item, encoder& out, std::size_t room, bool whole);
    written write_queued(monitored_item& item, encoder& out, std::size_t room, bool whole);

    server_view server_;
    const backend& ports_;
    const limits& bounds_;
    const transport::clock& time_;
    const std::vector<std::unique_ptr<subscription>>& subscriptions_;
    actor self_{};
    call own_call_;
    slab<monitored_item> items_;
    slab<triggering_link> links_;
    value_queues values_;
    std::vector<std::uint32_t> first_of_tag_;  // by tag index
    std::uint32_t first_sampled_ = 0;
    std::uint32_t sampling_at_ = 0;  // the next one of the pass that was cut off
    std::size_t seeing_all_ = 0;
    std::uint64_t drained_ = 1;  // how often the queued feed was found empty
    transport::time_point since_{};
    std::size_t scratch_size_;
    std::unique_ptr<std::byte[]> scratch_;   // one encoded Variant
    std::unique_ptr<std::byte[]> compared_;  // the one it is compared with
    std::array<std::byte, max_inline_value_bytes> value_scratch_{};
    transport::shown_number item_count_;
    transport::shown_number overflows_;
};

}  // namespace tagferry::opcua
