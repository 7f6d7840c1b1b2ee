#include "gateway/expose/web/feed.hpp"

#include "gateway/model/catalogue.hpp"

#include <stdexcept>

namespace tagferry::gateway {
namespace {

/// The stream shows latest values only, so nothing is ever queued.
constexpr std::size_t smallest_ring = 4096;

}  // namespace

web_feed::web_feed(transport::shard& owner, tag_table& table, std::size_t writers)
    : shard_(owner),
      table_(table),
      feed_({table.limits().tags, writers, smallest_ring, {&web_feed::wake, this}}) {
    const auto number = table.add_feed(feed_);
    if (!number) {
        throw std::length_error("the tag table has no place for another feed");
    }
    number_ = *number;
    for (const reason_entry& entry : reason_catalogue()) {
        reasons_.push_back({static_cast<std::uint16_t>(entry.id), entry.words, entry.remedy});
    }
    shard_.add(static_cast<transport::sweep_participant&>(*this));
}

bool web_feed::watch(web::tag_handle tag) {
    return table_.watch({tag.index, tag.generation}, number_, interest::changes);
}

void web_feed::unwatch(web::tag_handle tag) noexcept {
    table_.unwatch({tag.index, tag.generation}, number_, interest::changes);
}

/// On a writing thread.
void web_feed::wake(void* object) {
    auto& feed = *static_cast<web_feed*>(object);
    // Should the mailbox be full, the next sweep finds the news.
    static_cast<void>(feed.shard_.post({&web_feed::woken, &feed, 0, 0}));
}

void web_feed::woken(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& feed = *static_cast<web_feed*>(object);
    feed.next_turn(feed.shard_.now());
}

transport::time_point web_feed::deadline() const noexcept {
    return sink_ != nullptr && feed_.has_news() ? transport::time_point::min()
                                                : transport::time_point::max();
}

void web_feed::next_turn(transport::time_point now) {
    if (sink_ != nullptr) {
        transport::completion_sink& sink = *sink_;
        sink_ = nullptr;
        sink.resume(token_, 0, now);
    }
}

void web_feed::model_changed(const tag_model& model) {
    revision_ = model.revision();
    if (sink_ != nullptr) {
        shard_.at_next_turn(*this);
    }
}

void web_feed::arm(transport::completion_sink& sink, transport::completion_token token) {
    sink_ = &sink;
    token_ = token;
    if (feed_.has_news()) {
        shard_.at_next_turn(*this);
    }
}

std::size_t web_feed::drain(std::span<std::uint32_t> indexes) {
    // From here on news wakes again. A drain that filled its room goes on where it stopped.
    if (!begun_) {
        feed_.begin();
        begun_ = true;
    }
    std::size_t taken = 0;
    feed_.drain_changed(indexes.size(), [&](std::uint32_t index) { indexes[taken++] = index; });
    begun_ = taken == indexes.size();
    return taken;
}

}  // namespace tagferry::gateway
