// Writing tags. The Write service stands on this interface.
#pragma once

#include "protocols/opcua/backend/call.hpp"
#include "protocols/opcua/backend/value_view.hpp"
#include "protocols/opcua/backend/values.hpp"

#include <cstdint>
#include <span>

namespace tagferry::opcua {

/// A part of an array, both ends included; `last` < `first` means the whole value.
struct element_range {
    std::uint32_t first = 1;
    std::uint32_t last = 0;
    constexpr bool whole() const noexcept { return last < first; }
};

struct write_item {
    tag_handle handle{};
    value_view value{};  ///< type and shape already checked against the node's
    element_range range{};
};

class writes_backend {
  public:
    /// Checks range and length and sends the items to their devices, in order per tag. Defers:
    /// resumes `context.sink` once every item has its outcome; the code of the resume is 0.
    /// Each item completes with exactly one outcome: the device's own code; not sent
    /// (BadNoCommunication); sent, outcome unknown (BadTimeout, BadCommunicationError); partly
    /// written. An item past the deadline that was sent is `unknown`, never `not sent`; nothing
    /// unsent is replayed later.
    /// @param items and the memory their values point to: unchanged until the resume.
    /// @param outcomes as long as `items`; filled before the resume, not touched after it.
    /// @return false when nothing was started and nothing will be resumed, because too much is
    ///   outstanding: the server answers BadResourceUnavailable.
    virtual bool start_write(const call& context, std::span<const write_item> items,
                             std::span<status_code> outcomes) = 0;

  protected:
    ~writes_backend() = default;
};

}  // namespace tagferry::opcua
