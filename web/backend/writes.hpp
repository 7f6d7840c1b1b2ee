// Writing values to devices. A write is answered with what happened and never replayed.
#pragma once

#include "web/backend/call.hpp"
#include "web/backend/value.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

enum class write_ending : std::uint8_t {
    answered,  ///< the device answered: `status` is its code, Good when it took the value
    not_sent,  ///< nothing reached the wire; safe to repeat
    unknown,   ///< sent, and no answer came: the device may or may not have taken it
    partial,   ///< a write of several jobs stopped after `bytes_written` bytes
    rejected,  ///< refused before sending: type, range, length, access
};

struct write_item {
    tag_handle tag;
    value_view value;  ///< of the tag's declared type and length
};

/// Views are static or owned by the catalogue.
struct write_result {
    write_ending ending = write_ending::not_sent;
    std::uint32_t status = 0;
    std::string_view status_name;
    std::string_view reason;
    std::uint8_t device_code = 0;  ///< the protocol's own code where the device sent one
    bool has_device_code = false;
    std::uint32_t bytes_written = 0;
};

class writes {
  public:
    /// Writes the items in order; those of one tag keep their order. Values are copied before
    /// the call returns. `results` has one element an item, owned by the caller, and must live
    /// until the sink is resumed: every element is final then. The actor, the items and `reason`
    /// go to the audit log.
    /// `deferred`: the sink is resumed with `done` or, some results being `unknown`,
    /// `timed_out`. `done`: all were rejected at once. `busy`: nothing was queued.
    /// A caller that goes away calls `abandon`; queued writes are carried out all the same.
    virtual outcome write(const call& context, std::span<const write_item> items,
                          std::string_view reason, std::span<write_result> results) = 0;

    /// The caller's `results` and sink are not touched after this; the writes go on.
    virtual void abandon(transport::completion_sink& sink,
                         transport::completion_token token) noexcept = 0;

  protected:
    ~writes() = default;
};

}  // namespace tagferry::web
