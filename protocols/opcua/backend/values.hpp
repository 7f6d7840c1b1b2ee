// Reading tags: from the gateway's table, and from the device itself.
#pragma once

#include "protocols/opcua/backend/call.hpp"
#include "protocols/opcua/backend/value_view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua {

/// Names one tag for good: after the tag is gone its handle never means another one.
struct tag_handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const tag_handle&, const tag_handle&) = default;
};

/// Results of `values_backend::read_device`.
enum class device_read_result : std::uint32_t {
    completed = 0,         ///< every tag was asked for; the table says what came of each
    timed_out = 1,         ///< the deadline passed before all were answered
    no_communication = 2,  ///< nothing could be sent for at least one of them
};

class values_backend {
  public:
    /// The last sample of a tag. Never defers and never blocks; reads one consistent sample while
    /// its writer goes on.
    /// @param scratch at least `max_inline_value_bytes`; the value is copied there, and
    ///   `out.value.bytes` points into it. Values over that size are returned as a view of the
    ///   implementation's own immutable buffer, valid until the next call of this interface.
    ///   A tag that may not be read has status BadNotReadable and no value.
    /// @return false when the handle is stale or unknown (the server answers BadNodeIdUnknown);
    ///   `out` is then untouched.
    virtual bool read_current(const call& context, tag_handle handle, std::span<std::byte> scratch,
                              sample& out) = 0;

    /// The last samples of several tags at once, each consistent by itself, as `read_current`
    /// gives them: for the scalar numbers that nearly all tags are.
    /// @param into as many as `handles`. Where `type` is `null` after the call, `read_current`
    ///   knows more: the handle is stale, the tag is not one number, or its writer was at it.
    virtual void read_numbers(const call& context, std::span<const tag_handle> handles,
                              std::span<number_sample> into) = 0;

    /// Asks the devices for the present values of these tags and puts them in the table as a scan
    /// would. Defers: resumes `context.sink` with a `device_read_result`; the server then reads
    /// the table (Part 4 §5.10.2.2, maxAge 0: best effort).
    /// @param handles valid until this call returns. Stale handles are skipped.
    /// @return false when nothing was started and nothing will be resumed, because too much is
    ///   outstanding already: the server then answers from the table.
    virtual bool read_device(const call& context, std::span<const tag_handle> handles) = 0;

  protected:
    ~values_backend() = default;
};

}  // namespace tagferry::opcua
