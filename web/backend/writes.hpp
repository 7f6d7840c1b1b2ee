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

/// Lower-case word. Static storage.
std::string_view name_of(write_ending ending) noexcept;

/// Why the web room itself refuses to pass a write on.
enum class write_refusal : std::uint8_t {
    unknown_tag,
    read_only,
    type_mismatch,
    out_of_range,
    too_long,
    too_much,  ///< all values of the request together
};

/// What came of one write, in the words of the catalogue. Views are static storage.
struct write_result {
    write_ending ending = write_ending::not_sent;
    std::uint16_t http_status = 503;  ///< of a request that is this write alone
    std::uint32_t status = 0;
    std::string_view status_name;
    std::string_view code;    ///< stable lower-case word
    std::string_view reason;  ///< words
    std::string_view remedy;  ///< empty: nothing to do
    int device_code = -1;     ///< the protocol's own code where the device sent one
    std::uint32_t bytes_written = 0;

    bool ok() const noexcept { return ending == write_ending::answered && (status >> 30) == 0; }
};

/// Views are read during the call only.
struct write_item {
    tag_handle tag;
    std::string_view path;
    value_view value;                ///< of the tag's declared type and length
    std::string_view text;           ///< the value as the client wrote it, for the audit log
    write_result* result = nullptr;  ///< owned by the caller
};

class writes {
  public:
    /// Writes the items in order; those of one tag keep their order. Values are copied before
    /// the call returns. Results must live until the sink is resumed: every one is final then.
    /// The actor, the items and `reason` go to the log.
    /// `deferred`: the sink is resumed with `done`. `done`: all results are final already.
    /// `busy`: nothing was queued.
    /// A caller that goes away calls `abandon`; queued writes are carried out all the same.
    virtual outcome write(const call& context, std::span<const write_item> items,
                          std::string_view reason) = 0;
    static constexpr std::size_t max_items = 128;

    /// The caller's results and sink are not touched after this; the writes go on.
    virtual void abandon(transport::completion_sink& sink,
                         transport::completion_token token) noexcept = 0;

    /// What a write is answered with that is not passed on; logs it.
    virtual write_result refuse(const call& context, std::string_view path, std::string_view text,
                                write_refusal why) = 0;

    /// Bytes that all values of one call may have together. Constant.
    virtual std::size_t capacity() const noexcept = 0;

  protected:
    ~writes() = default;
};

}  // namespace tagferry::web
