// The lives of subscriptions: made, modified, moved to other sessions, ended.
#include "protocols/opcua/subscription/subscriptions.hpp"

#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "transport/memory/random.hpp"

#include <algorithm>
#include <chrono>

namespace tagferry::opcua {
namespace {

// A SubscriptionId: the place in the table and a number that begins anywhere, so that an id is not
// guessed and not used again after a restart (E39).
constexpr std::uint32_t place_bits = 12;
constexpr std::uint32_t place_mask = (1U << place_bits) - 1;

std::uint32_t random_serial() {
    std::uint32_t number = 0;
    transport::fill_random(std::as_writable_bytes(std::span{&number, 1}));
    return number;
}

transport::duration milliseconds_of(double count) noexcept {
    return std::chrono::duration_cast<transport::duration>(
        std::chrono::duration<double, std::milli>{count});
}

}  // namespace

subscriptions::subscriptions(const server_view& server, server_counters& counted,
                             const transport::clock& time, transport::pinned_pool& responses)
    : ports_(server.ports),
      bounds_(server.bounds),
      counted_(counted),
      time_(time),
      responses_(responses),
      reserve_(std::min<std::size_t>(bounds_.max_channels, responses.slot_count() / 2)),
      table_(bounds_.max_subscriptions),
      items_(server, time, table_),
      sent_(std::size_t{bounds_.max_subscriptions} * bounds_.max_retransmission_messages,
            bounds_.max_retransmission_bytes),
      requests_(bounds_.max_publish_requests),
      notices_(bounds_.max_subscriptions),
      publishers_(std::make_unique<publisher[]>(bounds_.max_sessions)),
      serial_(random_serial()) {
    arm();
}

subscriptions::~subscriptions() {
    ports_.schedule.forget();
    ports_.feed.arm({self_, transport::time_point::max(), {}, nullptr});
    writer_.close();
}

subscription* subscriptions::by_id(std::uint32_t id) noexcept {
    const std::uint32_t place = id & place_mask;
    if (place == 0 || place > table_.size()) {
        return nullptr;
    }
    subscription* const found = table_[place - 1].get();
    return found != nullptr && found->id == id && !found->is_closing ? found : nullptr;
}

subscription* subscriptions::find(const session& who, std::uint32_t id) noexcept {
    subscription* const found = by_id(id);
    if (found == nullptr || found->session_number != who.number) {
        return nullptr;
    }
    found->deserted_cycles = 0;
    return found;
}

// What is no number, or below what is supported, gives the fastest; nothing here may wrap.
void subscriptions::revise(subscription_parameters& wanted) const noexcept {
    const double least = bounds_.min_publishing_interval_ms;
    const double most = bounds_.max_publishing_interval_ms;
    wanted.publishing_interval_ms = wanted.publishing_interval_ms > least
                                        ? std::min(wanted.publishing_interval_ms, most)
                                        : least;
    wanted.keep_alive_count =
        std::clamp(wanted.keep_alive_count, std::uint32_t{1}, bounds_.max_keep_alive_count);
    wanted.lifetime_count =
        std::clamp(wanted.lifetime_count, 3 * wanted.keep_alive_count, bounds_.max_lifetime_count);
}

subscription* subscriptions::create(session& who, subscription_parameters& wanted,
                                    bool publishing_enabled, transport::time_point now) {
    const auto free = std::find(table_.begin(), table_.end(), nullptr);
    if (free == table_.end() ||
        (publisher_of(who).number == who.number &&
         publisher_of(who).owned_count >= bounds_.max_subscriptions_per_session)) {
        return nullptr;
    }
    revise(wanted);
    *free = std::make_unique<subscription>(static_cast<cycle_listener&>(*this));
    subscription& made = **free;
    made.place = static_cast<std::uint32_t>(free - table_.begin());
    made.id = (++serial_ << place_bits) | (made.place + 1);
    made.settings = wanted;
    made.interval = milliseconds_of(wanted.publishing_interval_ms);
    made.publishing_enabled = publishing_enabled;
    join_session(made, who);
    counted_.subscriptions.add(1);
    counted_.subscriptions_created.add(1);
    counted_.publishing_intervals.add(shares_interval(made) ? 0 : 1);
    ports_.schedule.wheel().schedule(made.timer, now + made.interval);
    return &made;
}

void subscriptions::modify(subscription& which, subscription_parameters& wanted,
                           transport::time_point now) {
    revise(wanted);
    const bool moves = wanted.publishing_interval_ms != which.settings.publishing_interval_ms;
    which.settings = wanted;
    if (moves) {
        counted_.publishing_intervals.subtract(shares_interval(which) ? 0 : 1);
        which.interval = milliseconds_of(wanted.publishing_interval_ms);
        counted_.publishing_intervals.add(shares_interval(which) ? 0 : 1);
        ports_.schedule.wheel().schedule(which.timer, now + which.interval);
    }
}

// Whether another subscription has the same publishing interval.
bool subscriptions::shares_interval(const subscription& which) const noexcept {
    return std::any_of(table_.begin(), table_.end(), [&](const auto& each) {
        return each != nullptr && each.get() != &which && !each->is_closing &&
               each->interval == which.interval;
    });
}

subscriptions::publisher* subscriptions::publisher_of(const subscription& which) noexcept {
    return which.session_number == 0 ? nullptr : &publishers_[which.session_index];
}

void subscriptions::join_session(subscription& which, session& who) noexcept {
    publisher& to = publisher_of(who);
    to.who = &who;
    to.number = who.number;
    to.owned.push_back(which);
    ++to.owned_count;
    which.session_number = who.number;
    which.session_index = who.index;
    which.user = who.user;
    which.client_uri = who.client_uri;
    which.deserted_cycles = 0;
    if (which.is_waiting) {
        ++to.waiting_count;
        activate(to);
    }
}

void subscriptions::leave_session(subscription& which) noexcept {
    publisher* const from = publisher_of(which);
    if (from == nullptr) {
        return;
    }
    transport::intrusive_list<subscription, session_list>::unlink(which);
    --from->owned_count;
    if (which.is_waiting) {
        --from->waiting_count;
    }
    which.session_number = 0;
}

// Its id means nothing from here on; its items are taken away over the next turns.
void subscriptions::close(subscription& which) noexcept {
    if (message_.of == &which) {
        give_up_message();
    }
    leave_session(which);
    which.is_closing = true;
    which.timer.cancel();
    sent_.clear(which.sent);
    transport::intrusive_list<subscription, work_list>::unlink(which);
    closing_.push_back(which);
    counted_.subscriptions.subtract(1);
    counted_.publishing_intervals.subtract(shares_interval(which) ? 0 : 1);
    ask();
}

void subscriptions::remove(subscription& which, transport::time_point now) {
    publisher* const from = publisher_of(which);
    close(which);
    if (from != nullptr && from->owned_count == 0 && from->first_notice == 0) {
        answer_all(*from, status::bad_no_subscription, now);
    }
}

bool subscriptions::clean_up(transport::turn_budget& budget) {
    while (!closing_.empty()) {
        subscription& gone = closing_.front();
        if (!items_.remove_all(gone, budget)) {
            return false;
        }
        table_[gone.place].reset();
    }
    return true;
}

status_code subscriptions::transfer(session& who, std::uint32_t id, bool resend,
                                    transport::time_point now, subscription*& moved) {
    subscription* const found = by_id(id);
    if (found == nullptr) {
        return status::bad_subscription_id_invalid;
    }
    if (found->session_number == who.number) {
        return status::bad_nothing_to_do;
    }
    if (found->user != who.user || (who.user.empty() && found->client_uri != who.client_uri)) {
        return status::bad_user_access_denied;
    }
    if (publisher_of(who).number == who.number &&
        publisher_of(who).owned_count >= bounds_.max_subscriptions_per_session) {
        return status::bad_too_many_subscriptions;
    }
    if (message_.of == found) {
        // It is finished for Republish; the connection of the old session must not get it.
        message_.request.channel = nullptr;
    }
    publisher* const from = publisher_of(*found);
    leave_session(*found);
    if (from != nullptr) {
        tell(*from, *found, status::good_subscription_transferred);
    }
    join_session(*found, who);
    if (resend) {
        found->resend_at = found->first_item;
    }
    static_cast<void>(now);
    moved = found;
    return status::good;
}

void subscriptions::tell(publisher& to, const subscription& lost, status_code why) noexcept {
    const std::uint32_t made = notices_.take();
    if (made == 0) {
        return;
    }
    notices_[made] = {lost.id, lost.next_sequence, why, 0, 0};
    (to.last_notice != 0 ? notices_[to.last_notice].next : to.first_notice) = made;
    to.last_notice = made;
    activate(to);
}

void subscriptions::write_available(const subscription& which, encoder& out) noexcept {
    out.u32(which.sent.count);
    sent_.for_each(which.sent, [&](std::uint32_t sequence) { out.u32(sequence); });
}

void subscriptions::session_ended(session& gone, bool delete_subscriptions,
                                  transport::time_point now) {
    publisher& from = publisher_of(gone);
    if (from.number != gone.number) {
        return;
    }
    if (message_.of != nullptr && message_.session_index == gone.index) {
        message_.request.channel = nullptr;
    }
    while (!from.owned.empty()) {
        subscription& each = from.owned.front();
        if (delete_subscriptions) {
            close(each);
        } else {
            leave_session(each);
        }
    }
    answer_all(from, status::bad_session_closed, now);
    while (from.first_notice != 0) {
        const std::uint32_t notice_gone = from.first_notice;
        from.first_notice = notices_[notice_gone].next;
        notices_.give_back(notice_gone);
    }
    from.last_notice = 0;
    from.waiting_count = 0;
    from.number = 0;
    from.who = nullptr;
    transport::intrusive_list<publisher, active_list>::unlink(from);
}

void subscriptions::items_changed(transport::time_point now) {
    if (items_.has_sampled() && !sampling_timer_.scheduled()) {
        ports_.schedule.wheel().schedule(
            sampling_timer_, now + std::chrono::milliseconds{bounds_.min_sampling_interval_ms});
    }
}

void subscriptions::sampling_due(transport::time_point now) {
    sampling_is_due_ = true;
    ask();
    if (items_.has_sampled()) {
        const auto interval = std::chrono::milliseconds{bounds_.min_sampling_interval_ms};
        ports_.schedule.wheel().schedule(sampling_timer_,
                                         transport::next_due(sampling_timer_.due(), interval, now));
    }
}

}  // namespace tagferry::opcua
