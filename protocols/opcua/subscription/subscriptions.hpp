// Subscriptions of all sessions: their publishing cycles, the Publish requests that wait for them,
// and the messages that answer these (Part 4 §5.14). A cycle only notes that it has come; what is
// due is done at the beginning of the next turn, within its limits, so that of several that are due
// at once the one of the highest priority goes first.
#pragma once

#include "protocols/opcua/backend/backend.hpp"
#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/session/session.hpp"
#include "protocols/opcua/subscription/monitor.hpp"
#include "protocols/opcua/subscription/publish_request.hpp"
#include "protocols/opcua/subscription/retransmission.hpp"
#include "protocols/opcua/subscription/slab.hpp"
#include "protocols/opcua/subscription/subscription.hpp"
#include "transport/memory/operations.hpp"
#include "transport/memory/pinned_pool.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tagferry::opcua {

inline const transport::operation_kind opcua_publish =
    transport::register_operation_kind("opcua_publish");

/// All calls on the OPC UA shard, unless said otherwise. Status codes are those of Part 4 §5.14.
class subscriptions final : private cycle_listener,
                            private continued_work,
                            private transport::completion_sink,
                            private transport::pool_waiter {
  public:
    /// Everything given outlives it.
    /// @param counted the server's counters, of which it keeps those of subscriptions.
    /// @param responses the pool that messages are encoded in.
    subscriptions(const server_view& server, server_counters& counted, const transport::clock& time,
                  transport::pinned_pool& responses);
    ~subscriptions() override;

    /// Makes a subscription; `wanted` is revised. Null: BadTooManySubscriptions.
    subscription* create(session& who, subscription_parameters& wanted, bool publishing_enabled,
                         transport::time_point now);
    /// The session's subscription of this id, or null: BadSubscriptionIdInvalid. Being asked for
    /// keeps it alive.
    subscription* find(const session& who, std::uint32_t id) noexcept;
    /// Changes a subscription; `wanted` is revised.
    void modify(subscription& which, subscription_parameters& wanted, transport::time_point now);
    void remove(subscription& which, transport::time_point now);
    /// Moves a subscription of any session to this one. BadSubscriptionIdInvalid; BadNothingToDo
    /// when it is there already; BadUserAccessDenied when it belongs to another user, or to another
    /// application where users are anonymous; BadTooManySubscriptions.
    /// @param resend every reporting item sends its value with the next messages.
    /// @param moved the subscription, when Good.
    status_code transfer(session& who, std::uint32_t id, bool resend, transport::time_point now,
                         subscription*& moved);

    /// Writes a message sent before (Republish). False: BadMessageNotAvailable.
    bool republish(const subscription& which, std::uint32_t sequence, encoder& out) noexcept {
        return sent_.write(which.sent, sequence, out);
    }
    void write_available(const subscription& which, encoder& out) noexcept;

    /// Forgets an acknowledged message.
    acknowledged acknowledge(const session& who, std::uint32_t id, std::uint32_t sequence) noexcept;
    /// Whether a Publish of this session can ever be answered with a message. False:
    /// BadNoSubscription.
    bool may_hold(const session& who) const noexcept;
    /// Holds a Publish. When the session holds as many as allowed, the oldest is answered
    /// BadTooManyPublishRequests (E42). False: this one has to be answered so.
    bool hold(session& who, const publish_request& request, transport::time_point now);
    /// Answers the session's held Publish requests of this handle with BadRequestCancelledByClient.
    /// @return how many there were.
    std::uint32_t cancel(const session& who, std::uint32_t request_handle,
                         transport::time_point now);

    monitor& items() noexcept { return items_; }
    /// To be called after items were added or changed.
    void items_changed(transport::time_point now);

    /// The session is about to be removed. Its subscriptions go, or live on without it until their
    /// lifetime ends or another session takes them over.
    void session_ended(session& gone, bool delete_subscriptions, transport::time_point now);
    /// The connection is gone; what its clients asked for is forgotten.
    void channel_gone(publish_channel& gone) noexcept;
    void channel_ready() noexcept;

    /// The earliest deadline of a held request.
    transport::time_point deadline() const noexcept { return next_deadline_; }
    void expire(transport::time_point now);

    // Any thread.
    std::uint64_t count() const noexcept { return counted_.subscriptions.value(); }
    std::uint64_t held() const noexcept { return held_count_.value(); }
    std::uint64_t notifications() const noexcept { return notifications_.value(); }
    std::uint64_t retransmission_bytes() const noexcept { return sent_.used_bytes(); }
    const monitor& items() const noexcept { return items_; }

  private:
    struct active_list {};
    /// What a session has of publishing; in the place of the session.
    struct publisher : transport::list_hook<active_list> {
        session* who = nullptr;
        std::uint32_t number = 0;  // of the session
        transport::intrusive_list<subscription, session_list> owned{};
        std::uint32_t owned_count = 0;
        std::uint32_t waiting_count = 0;
        std::uint32_t first_held = 0;
        std::uint32_t last_held = 0;
        std::uint32_t held_count = 0;
        std::uint32_t first_notice = 0;
        std::uint32_t last_notice = 0;
    };
    /// A StatusChangeNotification for a session that lost the subscription (Part 4 §7.25.4).
    struct notice {
        std::uint32_t subscription_id = 0;
        std::uint32_t sequence = 0;
        status_code status = 0;
        std::uint32_t next = 0;
        std::uint32_t next_free = 0;
    };
    /// The message that is being encoded, over several turns when it is long.
    struct composition {
        subscription* of = nullptr;  // null: none
        std::uint32_t session_index = 0;
        publish_request request{};
        transport::time_point changed_at{};
        std::size_t begin = 0;  // of the NotificationMessage in the body
        std::size_t data_begin = 0;
        std::size_t tail = 0;  // bytes to be written behind the notifications
        std::uint32_t count = 0;
        std::byte* more_at = nullptr;
        std::byte* length_at = nullptr;
        std::byte* count_at = nullptr;
    };

    void cycle(subscription& which, transport::time_point now) override;
    void go_on(transport::time_point now) override;
    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point now) override;
    void slot_returned() noexcept override;

    transport::turn_budget half_a_turn(transport::time_point now) const noexcept;
    void ask() noexcept { ports_.schedule.go_on_next_turn(*this); }
    void arm();
    void sampling_due(transport::time_point now);
    bool take_in(transport::time_point now);
    bool look_at_due(transport::time_point now, transport::turn_budget& budget);
    void decide(subscription& which) noexcept;
    bool publish(transport::time_point now, transport::turn_budget& budget);
    bool serve(publisher& to, transport::time_point now, transport::turn_budget& budget);
    bool serve_one(publisher& to, transport::time_point now, transport::turn_budget& budget);
    bool clean_up(transport::turn_budget& budget);

    publisher& publisher_of(const session& who) noexcept { return publishers_[who.index]; }
    publisher* publisher_of(const subscription& which) noexcept;
    void activate(publisher& which) noexcept;
    void block(publisher& which, publish_channel* slow) noexcept;
    subscription* most_urgent(publisher& of) noexcept;
    void stop_waiting_for_publish(subscription& which) noexcept;

    void revise(subscription_parameters& wanted) const noexcept;
    bool shares_interval(const subscription& which) const noexcept;
    subscription* by_id(std::uint32_t id) noexcept;
    void leave_session(subscription& which) noexcept;
    void join_session(subscription& which, session& who) noexcept;
    void close(subscription& which) noexcept;
    void tell(publisher& to, const subscription& lost, status_code why) noexcept;

    publish_request take_held(publisher& from) noexcept;
    void put_back(publisher& to, const publish_request& request) noexcept;
    void answer_all(publisher& of, status_code why, transport::time_point now);
    template <typename Condition>
    std::uint32_t answer_if(publisher& of, status_code why, transport::time_point now,
                            Condition&& applies);
    bool send_fault(const session* who, const publish_request& to, status_code why,
                    transport::time_point now);

    bool open_message(publisher& to, std::uint32_t subscription_id) noexcept;
    void write_results(const publish_request& request) noexcept;
    bool begin_data(publisher& to, subscription& of, transport::time_point now);
    bool compose(transport::time_point now, transport::turn_budget& budget);
    void finish_data(transport::time_point now);
    void keep_for_retransmission(subscription& of, std::size_t end) noexcept;
    void give_up_message() noexcept;
    void send_keep_alive(publisher& to, subscription& of, transport::time_point now);
    void send_notice(publisher& to, transport::time_point now);
    void message_sent(subscription& of) noexcept;

    const backend& ports_;
    const limits& bounds_;
    server_counters& counted_;
    const transport::clock& time_;
    transport::pinned_pool& responses_;
    std::size_t reserve_;  // response slots that publishing leaves to requests
    actor self_{};
    std::vector<std::unique_ptr<subscription>> table_;
    monitor items_;
    retransmission_store sent_;
    slab<publish_request> requests_;
    slab<notice> notices_;
    std::unique_ptr<publisher[]> publishers_;  // by place of the session
    transport::intrusive_list<subscription, work_list> due_;
    transport::intrusive_list<subscription, work_list> closing_;
    transport::intrusive_list<publisher, active_list> active_;
    transport::intrusive_list<publisher, active_list> blocked_;
    composition message_{};
    response_writer writer_{};
    std::uint32_t serial_;
    std::uint64_t waits_ = 0;
    bool has_news_ = false;
    bool sampling_is_due_ = false;
    std::uint32_t hurried_ = 0;  // turns in which the feed did not become empty
    transport::time_point news_since_{};
    transport::time_point next_deadline_ = transport::time_point::max();
    transport::member_timer<subscriptions, &subscriptions::sampling_due> sampling_timer_{*this};
    transport::shown_number held_count_;
    transport::shown_number notifications_;
};

}  // namespace tagferry::opcua
