// What a client has subscribed to on one socket, and the entries that tie it to tags.
#pragma once

#include "transport/memory/zeroed_memory.hpp"
#include "transport/time/intrusive_list.hpp"
#include "transport/time/timing_wheel.hpp"
#include "web/backend/value.hpp"
#include "web/backend/values.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tagferry::web {

class stream_hub;
class stream_socket;
class subscription;

/// Names an entry; 0 names none.
using entry_id = std::uint32_t;

/// One tag in one subscription. Lies in a pool shared by all, and in three lists: of its tag, of
/// its subscription, and of what changed there.
struct stream_entry {
    subscription* owner;
    tag_handle tag;
    std::uint32_t number;       // as the client knows the tag
    std::uint32_t description;  // digest of what the client was told about it
    entry_id next_on_tag;
    entry_id previous_on_tag;
    entry_id next_of_owner;
    entry_id next_changed;
    bool queued;   // is in the list of what changed
    bool changed;  // since it was last written; what is queued and not changed is passed over
};

/// All entries of a shard. Memory is used as entries are.
class entry_pool {
  public:
    /// @param capacity entries; @param tags every tag's index is below.
    entry_pool(std::size_t capacity, std::uint32_t tags)
        : entries_(capacity + 1), first_on_tag_(tags) {}

    stream_entry& at(entry_id id) const noexcept { return entries_[id]; }
    entry_id first_on_tag(std::uint32_t index) const noexcept { return first_on_tag_[index]; }
    std::size_t size() const noexcept { return size_; }

    /// A new entry in its tag's list; 0 when all are in use.
    entry_id add(subscription& owner, tag_handle tag) noexcept;
    /// Takes the entry out of its tag's list. True: it was the last one there.
    bool remove(entry_id id) noexcept;

  private:
    transport::zeroed_array<stream_entry> entries_;
    transport::zeroed_array<entry_id> first_on_tag_;
    entry_id first_free_ = 0;  // linked by `next_of_owner`
    entry_id used_ = 0;        // ids up to here have been given out before
    std::size_t size_ = 0;
};

/// Digest of what a client is told about a tag.
std::uint32_t description_of(const tag_row& tag) noexcept;

/// Tags for the list hooks of a subscription.
struct in_work {};

class subscription final : public transport::list_hook<in_work>, private transport::wheel_timer {
  public:
    enum class state : std::uint8_t {
        finding,     ///< its tags are being looked up
        describing,  ///< the client is being told which they are
        snapshot,    ///< and what their values are
        live,
        retired,  ///< nobody's any more; its entries are being given back
    };

    /// @param patterns the tags asked for, each ended by a zero byte.
    subscription(stream_hub& hub, stream_socket& socket, std::uint32_t id,
                 transport::duration min_interval, std::string_view patterns);

    std::uint32_t id() const noexcept { return id_; }
    state phase() const noexcept { return state_; }

    /// Something may be written for the client now.
    bool ready() const noexcept { return ready_; }
    bool has_changes() const noexcept { return first_changed_ != 0; }

  private:
    friend class stream_hub;
    friend class stream_socket;
    friend class subscription_finder;
    friend class stream_writer;

    void fire(transport::time_point now) override;

    stream_hub& hub_;
    stream_socket* socket_;
    std::uint32_t id_;
    state state_ = state::finding;
    bool ready_ = false;
    bool verifying_ = false;    // its tags are looked up again, after a change of the model
    bool has_pattern_ = false;  // a wildcard: tags may come and go
    bool told_changed_ = false;
    bool tell_changed_ = false;
    transport::duration min_interval_;
    std::unique_ptr<char[]> patterns_;
    std::size_t patterns_size_ = 0;
    std::size_t pattern_at_ = 0;  // finding by name: the next one
    tag_position position_ = 0;   // finding by pattern: where the walk stands
    entry_id compared_ = 0;       // verifying: the next entry to be met
    std::uint64_t revision_ = 0;  // of the tags, when looking them up began

    entry_id first_ = 0;
    entry_id last_ = 0;
    std::uint32_t count_ = 0;
    entry_id cursor_ = 0;  // describing and snapshot: the next entry to be written
    entry_id first_changed_ = 0;
    entry_id last_changed_ = 0;
    std::uint64_t conflated_ = 0;  // since the last delta
    std::uint64_t sequence_ = 0;
    transport::time_point first_change_{};
    transport::time_point last_delta_{};
};

}  // namespace tagferry::web
