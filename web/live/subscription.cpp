#include "web/live/subscription.hpp"

#include "web/live/stream_hub.hpp"

#include <cstring>

namespace tagferry::web {

entry_id entry_pool::add(subscription& owner, tag_handle tag) noexcept {
    entry_id id = first_free_;
    if (id != 0) {
        first_free_ = entries_[id].next_of_owner;
    } else if (used_ + 1 < entries_.size()) {
        id = ++used_;
    } else {
        return 0;
    }
    const entry_id next = first_on_tag_[tag.index];
    entries_[id] = {&owner, tag, 0, 0, next, 0, 0, 0, false, false};
    if (next != 0) {
        entries_[next].previous_on_tag = id;
    }
    first_on_tag_[tag.index] = id;
    ++size_;
    return id;
}

bool entry_pool::remove(entry_id id) noexcept {
    stream_entry& entry = entries_[id];
    if (entry.next_on_tag != 0) {
        entries_[entry.next_on_tag].previous_on_tag = entry.previous_on_tag;
    }
    if (entry.previous_on_tag != 0) {
        entries_[entry.previous_on_tag].next_on_tag = entry.next_on_tag;
    } else {
        first_on_tag_[entry.tag.index] = entry.next_on_tag;
    }
    entry.owner = nullptr;
    entry.next_of_owner = first_free_;
    first_free_ = id;
    --size_;
    return first_on_tag_[entry.tag.index] == 0;
}

std::uint32_t description_of(const tag_row& tag) noexcept {
    // FNV-1a, with a byte between the parts that neither holds.
    std::uint32_t digest = 2'166'136'261U;
    const auto take = [&digest](std::string_view text) {
        for (const char byte : text) {
            digest = (digest ^ static_cast<unsigned char>(byte)) * 16'777'619U;
        }
        digest = (digest ^ 0xFFU) * 16'777'619U;
    };
    take(tag.path);
    take(tag.type);
    take(tag.unit);
    return digest;
}

subscription::subscription(stream_hub& hub, stream_socket& socket, std::uint32_t id,
                           transport::duration min_interval, std::string_view patterns)
    : hub_(hub),
      socket_(&socket),
      id_(id),
      has_pattern_(patterns.find_first_of("*?") != std::string_view::npos),
      min_interval_(min_interval),
      patterns_(std::make_unique<char[]>(patterns.size())),
      patterns_size_(patterns.size()) {
    std::memcpy(patterns_.get(), patterns.data(), patterns.size());
}

void subscription::fire(transport::time_point now) {
    hub_.schedule(*this, now);
}

}  // namespace tagferry::web
