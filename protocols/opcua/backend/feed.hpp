// What changed, for monitored items: the latest value of many tags at a cost that grows with what
// changed, or every sample of few.
#pragma once

#include "protocols/opcua/backend/call.hpp"
#include "protocols/opcua/backend/value_view.hpp"
#include "protocols/opcua/backend/values.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua {

enum class feed_kind : std::uint8_t {
    latest,  ///< one bit per tag: the consumer reads the table when it has time
    queued,  ///< every sample through a bounded ring, for queues, durable items and timestamp
             ///< triggers
};

/// A tag with news in the latest-value feed.
struct feed_mark {
    tag_handle handle{};
    bool changed = false;  ///< value or status differs from before
    bool updated = false;  ///< sampled again, timestamps moved
};

/// A sample of the queued feed.
struct feed_sample {
    tag_handle handle{};
    sample data{};          ///< its bytes stay valid until the next call of `drain_queued`
    bool overflow = false;  ///< samples of this tag before this one were lost
    bool changed = true;    ///< value or status differs from the sample before, or some were lost
};

/// Tags are counted, not listed: watching one twice needs unwatching it twice.
class feed_backend {
  public:
    /// Starts the feed of a tag. Does not defer. The first drain after it reports the tag as
    /// changed, so that an item gets its initial value.
    /// @return false: stale handle, or the limit of queued tags is reached.
    virtual bool watch(const call& context, tag_handle handle, feed_kind kind) = 0;
    virtual void unwatch(const call& context, tag_handle handle, feed_kind kind) = 0;

    /// Asks to be resumed once, with result 0, when either feed has news; at once (but not on
    /// this stack) if it already has. Arming again replaces the earlier call.
    virtual void arm(const call& context) = 0;

    /// Takes marks off the latest-value feed, at most `into.size()`.
    /// @return how many were written; fewer than asked for means that the feed is empty.
    virtual std::size_t drain_latest(std::span<feed_mark> into) = 0;
    /// Takes samples off the queued feed, oldest first; as above.
    virtual std::size_t drain_queued(std::span<feed_sample> into) = 0;

  protected:
    ~feed_backend() = default;
};

}  // namespace tagferry::opcua
