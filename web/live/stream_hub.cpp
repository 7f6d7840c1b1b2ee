#include "web/live/stream_hub.hpp"

#include "web/http/operations.hpp"
#include "web/live/stream_socket.hpp"
#include "web/live/subscription_finder.hpp"

#include <utility>

namespace tagferry::web {

stream_hub::stream_hub(const http_limits& limits, web::feed& news, web::values& source,
                       execution& executor, later_queue& later, const transport::clock& time,
                       std::span<std::byte> scratch)
    : limits_(limits),
      feed_(news),
      values_(source),
      execution_(executor),
      later_(later),
      clock_(time),
      scratch_(scratch),
      entries_(limits.stream_entries, news.index_limit()),
      messages_({"ws_message", limits.stream_message_size, limits.stream_sockets}),
      revision_(news.revision()) {
    feed_.arm(*this, {});
}

stream_hub::~stream_hub() {
    while (subscription* const which = retired_.pop_front()) {
        delete which;
    }
}

void stream_hub::add(stream_socket& socket) noexcept {
    sockets_.push_back(socket);
    ++socket_count_;
    stream_counters::add(counters_.sockets, 1);
}

void stream_hub::remove(stream_socket& socket) noexcept {
    sockets_.unlink(socket);
    waiting_.unlink(socket);
    --socket_count_;
    stream_counters::subtract(counters_.sockets, 1);
}

void stream_hub::shut_down() {
    shutting_down_ = true;
    for (stream_socket* each = sockets_.empty() ? nullptr : &sockets_.front(); each != nullptr;
         each = sockets_.after(*each)) {
        each->close(close_code::going_away, "the gateway stops");
    }
}

void stream_hub::look_up(subscription& which) noexcept {
    which.revision_ = feed_.revision();
    looked_up_.push_back(which);
    work_soon();
}

bool stream_hub::add_entry(subscription& to, tag_handle tag, std::uint32_t description) noexcept {
    const entry_id id = entries_.add(to, tag);
    if (id == 0) {
        return false;
    }
    stream_entry& entry = entries_.at(id);
    entry.number = to.count_++;
    entry.description = description;
    (to.last_ == 0 ? to.first_ : entries_.at(to.last_).next_of_owner) = id;
    to.last_ = id;
    // A tag that was removed this moment is shown as unknown.
    static_cast<void>(feed_.watch(tag));
    counters_.entries.store(entries_.size(), std::memory_order_relaxed);
    return true;
}

void stream_hub::retire(std::unique_ptr<subscription> which) noexcept {
    looked_up_.unlink(*which);
    which->cancel();
    which->state_ = subscription::state::retired;
    which->socket_ = nullptr;
    retired_.push_back(*which.release());
    work_soon();
}

void stream_hub::give_back_entries() noexcept {
    for (std::size_t returned = 0; returned < returns_per_turn && !retired_.empty(); ++returned) {
        subscription& oldest = retired_.front();
        if (oldest.first_ == 0) {
            delete retired_.pop_front();
            continue;
        }
        const entry_id id = oldest.first_;
        oldest.first_ = entries_.at(id).next_of_owner;
        remove_entry(id);
    }
    counters_.entries.store(entries_.size(), std::memory_order_relaxed);
}

void stream_hub::remove_entry(entry_id id) noexcept {
    if (id == marked_next_) {
        marked_next_ = entries_.at(id).next_on_tag;
        drained_at_ += marked_next_ == 0 ? 1U : 0U;
    }
    const tag_handle tag = entries_.at(id).tag;
    if (entries_.remove(id)) {
        feed_.unwatch(tag);
    }
}

void stream_hub::serve(stream_socket& socket) noexcept {
    if (!waiting_.linked(socket)) {
        waiting_.push_back(socket);
        work_soon();
    }
}

void stream_hub::serve_sockets(transport::time_point now) {
    for (std::size_t served = 0; served < sockets_per_turn && !waiting_.empty(); ++served) {
        waiting_.pop_front()->produce_soon(now);
    }
}

void stream_hub::schedule(subscription& which, transport::time_point now) noexcept {
    if (which.state_ != subscription::state::live || which.ready_ || !which.has_changes()) {
        return;
    }
    const transport::time_point due = which.last_delta_ + which.min_interval_;
    if (due > now) {
        if (!which.scheduled()) {
            execution_.wheel().schedule(which, due);
        }
        return;
    }
    which.cancel();
    which.ready_ = true;
    serve(*which.socket_);
}

void stream_hub::mark(entry_id id, transport::time_point now) noexcept {
    stream_entry& entry = entries_.at(id);
    subscription& owner = *entry.owner;
    if (owner.state_ == subscription::state::retired) {
        return;
    }
    if (entry.changed) {
        ++owner.conflated_;
        stream_counters::add(counters_.conflated, 1);
        return;
    }
    entry.changed = true;
    if (!entry.queued) {
        entry.queued = true;
        entry.next_changed = 0;
        if (owner.first_changed_ == 0) {
            owner.first_changed_ = id;
            owner.first_change_ = now;
        } else {
            entries_.at(owner.last_changed_).next_changed = id;
        }
        owner.last_changed_ = id;
    }
    schedule(owner, now);
}

void stream_hub::take_news(transport::time_point now) {
    std::size_t marks = 0;
    while (marks < marks_per_turn) {
        if (drained_at_ == drained_size_) {
            if (!news_) {
                return;
            }
            drained_at_ = 0;
            drained_size_ = feed_.drain(drained_);
            if (drained_size_ < drained_.size()) {
                news_ = false;
                feed_.arm(*this, {});
            }
            continue;
        }
        entry_id id = marked_next_ != 0 ? std::exchange(marked_next_, 0)
                                        : entries_.first_on_tag(drained_[drained_at_]);
        for (; id != 0 && marks < marks_per_turn; ++marks) {
            const entry_id next = entries_.at(id).next_on_tag;
            mark(id, now);
            id = next;
        }
        if (id != 0) {
            marked_next_ = id;
            return;
        }
        ++marks;
        ++drained_at_;
    }
}

/// After a change of the model every subscription is looked up again, to see whether its tags are
/// still the same.
void stream_hub::check_revision() noexcept {
    const std::uint64_t current = feed_.revision();
    if (current == revision_) {
        return;
    }
    revision_ = current;
    for (stream_socket* each = sockets_.empty() ? nullptr : &sockets_.front(); each != nullptr;
         each = sockets_.after(*each)) {
        for (const auto& which : each->subscriptions_) {
            if (which->state_ != subscription::state::finding) {
                settle(*which);
            }
        }
    }
}

/// Has the subscription looked up again when the model is a newer one than it was found in.
void stream_hub::settle(subscription& which) noexcept {
    if (which.revision_ == revision_) {
        return;
    }
    looked_up_.unlink(which);
    which.verifying_ = true;
    which.position_ = 0;
    which.compared_ = which.first_;
    look_up(which);
}

void stream_hub::look_up_one(transport::time_point now) {
    subscription* const which = looked_up_.pop_front();
    if (which == nullptr) {
        return;
    }
    stream_socket& socket = *which->socket_;
    const call context = socket.context(now);
    subscription_finder finder(*this, context);
    switch (finder.step(*which)) {
        case subscription_finder::result::more:
            looked_up_.push_back(*which);
            break;
        case subscription_finder::result::done:
            if (!std::exchange(which->verifying_, false)) {
                socket.found(*which);
            }
            settle(*which);
            break;
        case subscription_finder::result::changed:
            which->verifying_ = false;
            which->tell_changed_ = true;
            serve(socket);
            break;
        case subscription_finder::result::refused:
            socket.refused(*which, finder.error());
            break;
    }
}

bool stream_hub::has_work() noexcept {
    return !retired_.empty() || !looked_up_.empty() || news_ || drained_at_ != drained_size_ ||
           !waiting_.empty();
}

void stream_hub::resume(transport::completion_token, std::uint32_t, transport::time_point) {
    news_ = true;
    work_soon();
}

void stream_hub::go_on(transport::time_point now) {
    const transport::operation_scope charged(ws_push);
    give_back_entries();
    check_revision();
    look_up_one(now);
    take_news(now);
    serve_sockets(now);
    if (has_work()) {
        work_soon();
    }
}

}  // namespace tagferry::web
