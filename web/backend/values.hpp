// Tags and their last samples, for reading. All calls on the web shard's thread; none blocks.
#pragma once

#include "web/backend/call.hpp"
#include "web/backend/value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

/// What a tag is, apart from its value. Views as in `value_row`.
struct tag_row {
    tag_handle handle;
    std::string_view path;
    std::string_view node_id;  ///< as OPC UA writes it, `ns=3;s=…`
    std::string_view type;     ///< as the configuration writes it, e.g. "REAL", "STRING[20]"
    std::string_view address;  ///< in the device, as the configuration writes it; empty: none
    bool readable = true;
    bool writable = false;
    value_type element = value_type::none;  ///< of its values
    std::int32_t array_length = scalar;     ///< of its values
    std::uint16_t capacity = 0;             ///< bytes a text may have; 0 for other types
    std::string_view scan_class;
    std::string_view unit;         ///< empty: none
    std::string_view description;  ///< empty: none
};

/// Where a walk over the tags stands. Positions are stable: a tag keeps its position while it
/// lives, so a walk continued after a reconfiguration repeats nothing and misses only what was
/// added before it. 0 starts. Opaque to the web room and handed to clients as a cursor.
using tag_position = std::uint64_t;

class values {
  public:
    /// The tag of this path: UTF-8 with escapes of names kept, as the gateway's path function
    /// makes it. `done`, `not_found` or `forbidden`.
    virtual outcome find(const call& context, std::string_view path, tag_handle& found) = 0;

    /// The last sample. Copies into `scratch` what the row's values need, at least
    /// `2 * largest_value_size()` bytes. `done`, `not_found` (stale) or `forbidden`.
    virtual outcome read(const call& context, tag_handle tag, std::span<std::byte> scratch,
                         value_row& row) = 0;

    /// Has the source read these tags now unless their sample is at most `max_age` old; what
    /// comes back, good or bad, is in the table when the sink is resumed, to be taken by `read`.
    /// The handles are copied. `done`: all young enough already. `deferred`: the sink will be
    /// resumed with `done`, `timed_out` or `busy`. `busy`: too many device reads outstanding.
    /// At most `max_refresh_tags` handles.
    virtual outcome refresh(const call& context, std::span<const tag_handle> tags,
                            transport::duration max_age) = 0;
    static constexpr std::size_t max_refresh_tags = 128;

    /// Gives up a deferred refresh whose asker is gone: its sink is not resumed after this.
    virtual void cancel_refresh(transport::completion_sink& sink,
                                transport::completion_token token) noexcept = 0;

    /// The first tag at or after `position` whose path matches `pattern` (web/backend/pattern.hpp;
    /// an empty pattern matches all) and which the actor may read; `position` moves past it.
    /// `done`, `end`, or `later` after a bounded number of steps without a match.
    virtual outcome next(const call& context, std::string_view pattern, tag_position& position,
                         tag_row& row) = 0;

    /// What the tag is. `done`, `not_found` or `forbidden`.
    virtual outcome describe(const call& context, tag_handle tag, tag_row& row) = 0;

    /// Another number whenever the set of tags, or what is said about one, may have changed, and
    /// in every run; never 0.
    virtual std::uint64_t revision() const noexcept = 0;

    /// Bytes of the largest value any tag can have in slot form. Constant while the process runs.
    virtual std::size_t largest_value_size() const noexcept = 0;

  protected:
    ~values() = default;
};

}  // namespace tagferry::web
