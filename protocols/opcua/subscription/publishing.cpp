// Publishing cycles, the Publish requests that are held for them, and what is done in each turn.
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "protocols/opcua/subscription/subscriptions.hpp"

#include <algorithm>
#include <chrono>

namespace tagferry::opcua {
namespace {

// Turns that what is due waits for the feed to become empty: a feed that never does must not keep
// subscriptions silent.
constexpr std::uint32_t most_hurried_turns = 64;

}  // namespace

// The state table of Part 4 §5.14.1.2, its Late and KeepAlive states held as `is_waiting` and as
// cycles without a message.
void subscriptions::cycle(subscription& which, transport::time_point now) {
    ports_.schedule.wheel().schedule(which.timer,
                                     transport::next_due(which.timer.due(), which.interval, now));
    publisher* const owner = publisher_of(which);
    if (owner != nullptr && owner->first_held != 0) {
        which.deserted_cycles = 0;
    } else if (++which.deserted_cycles >= which.settings.lifetime_count) {
        if (owner != nullptr) {
            tell(*owner, which, status::bad_timeout);
        }
        close(which);
        return;
    }
    ++which.silent_cycles;
    if (!which.is_due) {
        which.is_due = true;
        due_.push_back(which);
    }
    ask();
}

void subscriptions::arm() {
    ports_.feed.arm({self_, transport::time_point::max(), {}, this});
}

void subscriptions::resume(transport::completion_token, std::uint32_t, transport::time_point now) {
    if (!has_news_) {
        has_news_ = true;
        news_since_ = now;
    }
    if (items_.must_see_all()) {
        ask();
    }
}

transport::turn_budget subscriptions::half_a_turn(transport::time_point now) const noexcept {
    return {time_, now, std::max<std::size_t>(bounds_.turn_items / 2, 1),
            std::chrono::microseconds{bounds_.turn_us} / 2};
}

// Half of a turn takes in what is new, the other half says it.
void subscriptions::go_on(transport::time_point now) {
    const transport::operation_scope scope{opcua_publish};
    const bool all_in = take_in(now);
    hurried_ = all_in ? 0 : hurried_ + 1;
    transport::turn_budget budget = half_a_turn(time_.now());
    const bool may_look = all_in || hurried_ >= most_hurried_turns;
    bool done = all_in;
    done = (may_look ? look_at_due(now, budget) : due_.empty()) && done;
    done = publish(now, budget) && done;
    done = clean_up(budget) && done;
    if (!done) {
        ask();
    }
}

bool subscriptions::take_in(transport::time_point now) {
    transport::turn_budget budget = half_a_turn(now);
    bool done = true;
    if (has_news_ && (items_.must_see_all() || !due_.empty())) {
        done = items_.drain(news_since_, now, budget);
        if (done) {
            has_news_ = false;
            arm();
        }
    }
    if (sampling_is_due_) {
        sampling_is_due_ = !items_.take_samples(now, budget);
        done = done && !sampling_is_due_;
    }
    return done;
}

bool subscriptions::look_at_due(transport::time_point now, transport::turn_budget& budget) {
    while (!due_.empty()) {
        subscription& which = due_.front();
        if ((which.deferred_count != 0 && !items_.take_deferred(which, now, budget)) ||
            (which.resend_at != 0 && !items_.resend(which, budget))) {
            return false;
        }
        which.is_due = false;
        transport::intrusive_list<subscription, work_list>::unlink(which);
        decide(which);
    }
    return true;
}

// At the end of its cycle: a message when there is something to say, or when it was silent long
// enough; the first one comes after the first cycle in any case (E43, E44).
void subscriptions::decide(subscription& which) noexcept {
    const bool has_data = which.publishing_enabled && which.first_ready != 0;
    const bool speaks =
        has_data || !which.has_sent || which.silent_cycles >= which.settings.keep_alive_count;
    if (!speaks || which.is_waiting) {
        return;
    }
    which.is_waiting = true;
    which.waits_since = ++waits_;
    if (publisher* const owner = publisher_of(which)) {
        ++owner->waiting_count;
        activate(*owner);
    }
}

void subscriptions::stop_waiting_for_publish(subscription& which) noexcept {
    if (which.is_waiting) {
        which.is_waiting = false;
        if (publisher* const owner = publisher_of(which)) {
            --owner->waiting_count;
        }
    }
}

void subscriptions::activate(publisher& which) noexcept {
    using list = transport::intrusive_list<publisher, active_list>;
    if (which.first_held != 0 && (which.waiting_count != 0 || which.first_notice != 0) &&
        !list::linked(which)) {
        active_.push_back(which);
        ask();
    }
}

// Until the client has taken what is queued for it, or until a response slot is free.
void subscriptions::block(publisher& which, publish_channel* slow) noexcept {
    transport::intrusive_list<publisher, active_list>::unlink(which);
    blocked_.push_back(which);
    if (slow != nullptr) {
        slow->tell_when_ready();
    } else {
        responses_.wait(*this);
    }
}

void subscriptions::channel_ready() noexcept {
    if (!blocked_.empty()) {
        active_.splice_back(blocked_);
        ask();
    }
}

void subscriptions::slot_returned() noexcept {
    channel_ready();
}

bool subscriptions::publish(transport::time_point now, transport::turn_budget& budget) {
    if (message_.of != nullptr && !compose(now, budget)) {
        return false;
    }
    while (!active_.empty()) {
        if (!serve(active_.front(), now, budget)) {
            return false;
        }
    }
    return true;
}

// Everything that a session can be told now. False: the budget is used up.
bool subscriptions::serve(publisher& to, transport::time_point now,
                          transport::turn_budget& budget) {
    while (to.first_held != 0 && (to.first_notice != 0 || to.waiting_count != 0)) {
        if (!budget.spend()) {
            return false;
        }
        publish_channel* const channel = requests_[to.first_held].channel;
        if (!channel->may_publish()) {
            block(to, channel);
            return true;
        }
        if (responses_.free_count() <= reserve_) {
            block(to, nullptr);
            return true;
        }
        if (!serve_one(to, now, budget)) {
            return false;
        }
    }
    transport::intrusive_list<publisher, active_list>::unlink(to);
    return true;
}

bool subscriptions::serve_one(publisher& to, transport::time_point now,
                              transport::turn_budget& budget) {
    if (requests_[to.first_held].channel_id != to.who->channel_id) {
        // The session has moved to another channel; nobody reads this answer but the old one.
        const publish_request stale = take_held(to);
        send_fault(to.who, stale, status::bad_secure_channel_id_invalid, now);
        return true;
    }
    if (to.first_notice != 0) {
        send_notice(to, now);
        return true;
    }
    subscription& next = *most_urgent(to);
    if (next.publishing_enabled && next.first_ready != 0) {
        return !begin_data(to, next, now) || compose(now, budget);
    }
    if (!next.has_sent || next.silent_cycles >= next.settings.keep_alive_count) {
        send_keep_alive(to, next, now);
    } else {
        stop_waiting_for_publish(next);
    }
    return true;
}

// The highest priority first, among equals the one that waits longest.
subscription* subscriptions::most_urgent(publisher& of) noexcept {
    subscription* best = nullptr;
    for (subscription* each = &of.owned.front(); each != nullptr; each = of.owned.after(*each)) {
        if (each->is_waiting &&
            (best == nullptr || each->settings.priority > best->settings.priority ||
             (each->settings.priority == best->settings.priority &&
              each->waits_since < best->waits_since))) {
            best = each;
        }
    }
    return best;
}

acknowledged subscriptions::acknowledge(const session& who, std::uint32_t id,
                                        std::uint32_t sequence) noexcept {
    subscription* const found = by_id(id);
    if (found == nullptr || found->session_number != who.number) {
        return acknowledged::subscription_unknown;
    }
    return sent_.acknowledge(found->sent, sequence) ? acknowledged::good
                                                    : acknowledged::sequence_unknown;
}

bool subscriptions::may_hold(const session& who) const noexcept {
    const publisher& mine = publishers_[who.index];
    return mine.number == who.number && (mine.owned_count != 0 || mine.first_notice != 0);
}

bool subscriptions::hold(session& who, const publish_request& request, transport::time_point now) {
    publisher& mine = publisher_of(who);
    if (mine.held_count >= bounds_.max_publish_requests_per_session) {
        const publish_request oldest = take_held(mine);
        if (!send_fault(&who, oldest, status::bad_too_many_publish_requests, now)) {
            put_back(mine, oldest);
            return false;
        }
    }
    const std::uint32_t made = requests_.take();
    if (made == 0) {
        return false;
    }
    requests_[made] = request;
    requests_[made].next = 0;
    (mine.last_held != 0 ? requests_[mine.last_held].next : mine.first_held) = made;
    mine.last_held = made;
    ++mine.held_count;
    held_count_.add(1);
    next_deadline_ = std::min(next_deadline_, request.deadline);
    activate(mine);
    return true;
}

publish_request subscriptions::take_held(publisher& from) noexcept {
    const std::uint32_t taken = from.first_held;
    const publish_request out = requests_[taken];
    from.first_held = out.next;
    from.last_held = from.first_held == 0 ? 0 : from.last_held;
    --from.held_count;
    held_count_.subtract(1);
    requests_.give_back(taken);
    return out;
}

// There is a record for it: it was taken out a moment ago.
void subscriptions::put_back(publisher& to, const publish_request& request) noexcept {
    const std::uint32_t made = requests_.take();
    if (made == 0) {
        return;
    }
    requests_[made] = request;
    requests_[made].next = to.first_held;
    to.first_held = made;
    to.last_held = to.last_held == 0 ? made : to.last_held;
    ++to.held_count;
    held_count_.add(1);
}

// Answers the held requests that `applies` to, and forgets them when there is no slot for that.
template <typename Condition>
std::uint32_t subscriptions::answer_if(publisher& of, status_code why, transport::time_point now,
                                       Condition&& applies) {
    std::uint32_t answered = 0;
    std::uint32_t before = 0;
    std::uint32_t at = of.first_held;
    while (at != 0) {
        const std::uint32_t next = requests_[at].next;
        if (!applies(requests_[at])) {
            before = at;
            at = next;
            continue;
        }
        const publish_request gone = requests_[at];
        (before != 0 ? requests_[before].next : of.first_held) = next;
        of.last_held = of.last_held == at ? before : of.last_held;
        --of.held_count;
        held_count_.subtract(1);
        requests_.give_back(at);
        send_fault(of.who, gone, why, now);
        ++answered;
        at = next;
    }
    return answered;
}

void subscriptions::answer_all(publisher& of, status_code why, transport::time_point now) {
    answer_if(of, why, now, [](const publish_request&) { return true; });
}

std::uint32_t subscriptions::cancel(const session& who, std::uint32_t request_handle,
                                    transport::time_point now) {
    publisher& mine = publisher_of(who);
    if (mine.number != who.number) {
        return 0;
    }
    return answer_if(
        mine, status::bad_request_cancelled_by_client, now,
        [&](const publish_request& each) { return each.request_handle == request_handle; });
}

void subscriptions::channel_gone(publish_channel& gone) noexcept {
    if (message_.of != nullptr && message_.request.channel == &gone) {
        message_.request.channel = nullptr;
    }
    for (std::uint32_t index = 0; index < bounds_.max_sessions; ++index) {
        publisher& each = publishers_[index];
        std::uint32_t before = 0;
        for (std::uint32_t at = each.first_held; at != 0;) {
            const std::uint32_t next = requests_[at].next;
            if (requests_[at].channel == &gone) {
                (before != 0 ? requests_[before].next : each.first_held) = next;
                each.last_held = each.last_held == at ? before : each.last_held;
                --each.held_count;
                held_count_.subtract(1);
                requests_.give_back(at);
            } else {
                before = at;
            }
            at = next;
        }
    }
    channel_ready();
}

void subscriptions::expire(transport::time_point now) {
    if (next_deadline_ > now) {
        return;
    }
    next_deadline_ = transport::time_point::max();
    for (std::uint32_t index = 0; index < bounds_.max_sessions; ++index) {
        publisher& each = publishers_[index];
        answer_if(each, status::bad_timeout, now,
                  [&](const publish_request& held) { return held.deadline <= now; });
        for (std::uint32_t at = each.first_held; at != 0; at = requests_[at].next) {
            next_deadline_ = std::min(next_deadline_, requests_[at].deadline);
        }
    }
}

}  // namespace tagferry::opcua
