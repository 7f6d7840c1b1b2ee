// Which tags have news, for the stream. One consumer for all clients of the shard: a change costs
// its writer the same with one client as with a thousand.
#pragma once

#include "transport/engine.hpp"
#include "web/backend/value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

/// One line of the catalogue of reasons. All views are static storage.
struct reason_words {
    std::uint16_t id = 0;
    std::string_view words;
    std::string_view remedy;  ///< empty where there is nothing to do
};

/// All calls on the web shard's thread; none blocks, none allocates.
class feed {
  public:
    /// From here on changes of the tag's value or status are told; a `values::read` after this
    /// misses nothing that is not told. Watching twice is watching once. False: a stale handle.
    virtual bool watch(tag_handle tag) = 0;
    virtual void unwatch(tag_handle tag) noexcept = 0;

    /// Resumes `sink` once, in a later turn, as soon as there is something to drain or `revision`
    /// has moved. One sink at a time; to be armed again after it was resumed.
    virtual void arm(transport::completion_sink& sink, transport::completion_token token) = 0;

    /// Takes indexes of watched tags that changed since they were last taken, each once. Fewer
    /// than there is room for: there are no more.
    virtual std::size_t drain(std::span<std::uint32_t> indexes) = 0;

    /// Every `tag_handle::index` is below this. Constant.
    virtual std::uint32_t index_limit() const noexcept = 0;

    /// Counts up whenever the set of tags, or what is said about one, may have changed.
    virtual std::uint64_t revision() const noexcept = 0;

    /// What the reason ids of value rows mean.
    virtual std::span<const reason_words> reasons() const noexcept = 0;

  protected:
    ~feed() = default;
};

}  // namespace tagferry::web
