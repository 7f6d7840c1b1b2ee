// The port every protocol is plugged in by: a source keeps the tags of one connection true.
//
// It reads them on their schedule and publishes values, qualities and timestamps into the table,
// reads and writes on request, and says how its link is. It lives on one shard; S7 is the first,
// the gateway's own health the second.
#pragma once

#include "gateway/model/catalogue.hpp"
#include "gateway/tags/tag_handle.hpp"
#include "gateway/tags/tag_model.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::gateway {

enum class source_state : std::uint8_t {
    stopped,     ///< not started, or stopped
    connecting,  ///< an attempt is under way
    up,          ///< values come
    waiting,     ///< between attempts
};
/// One lower-case word. Static storage.
std::string_view name_of(source_state state) noexcept;

/// Why a request had no usable answer.
enum class request_failure : std::uint8_t {
    refused,         ///< the device refused all of it
    reply_unusable,  ///< the answer contradicts the request
    timed_out,       ///< no answer in time
    link_lost,       ///< the link ended before the answer
    not_sent,        ///< the link ended before it was sent
};
inline constexpr std::size_t request_failure_count = 5;
/// As a label of metrics. Static storage.
std::string_view name_of(request_failure why) noexcept;

/// How long accepted writes took until their outcome.
struct write_durations {
    static constexpr std::array<double, 10> bounds_s = {0.002, 0.005, 0.01, 0.02, 0.05,
                                                        0.1,   0.25,  0.5,  1,    5};
    std::array<std::uint64_t, bounds_s.size() + 1> buckets{};  ///< the last: over all bounds
    double sum_s = 0;
};

/// How a source is, for people and metrics.
struct source_status {
    source_state state = source_state::stopped;
    std::string_view reason;            ///< why it is not up, in words; static; empty when up
    transport::wall_time_ns since = 0;  ///< it is up, stopped, or neither
    transport::wall_time_ns next_attempt = 0;  ///< 0: none planned
    std::uint64_t connects = 0;                ///< times it came up
    std::uint64_t connect_failures = 0;
    std::uint64_t requests = 0;
    std::uint64_t request_failures = 0;  ///< without a usable answer
    std::array<std::uint64_t, request_failure_count> failures_by_reason{};  ///< of these
    std::uint64_t item_errors = 0;    ///< items answered with an error code
    std::uint64_t scans = 0;          ///< scan cycles completed
    std::uint64_t overruns = 0;       ///< scans skipped because the one before was not over
    std::uint64_t bytes_read = 0;     ///< of values
    std::uint64_t bytes_written = 0;  ///< of values, confirmed by the device
    write_durations writes;
    /// How long after its interval had passed the last scan was complete; 0: in time.
    transport::duration lag{};
    /// How long ago the device last answered for the tag that waits longest; since the start while
    /// there was no answer at all. 0 without tags.
    transport::duration oldest_age{};
    std::uint32_t pdu_size = 0;        ///< negotiated; 0 while not up
    std::uint32_t window = 0;          ///< requests in flight the device takes; 0 while not up
    std::uint32_t pending_writes = 0;  ///< accepted, not answered yet
    std::uint32_t pending_device_reads = 0;
};

/// How a read on request ended. What came of each tag is in the table.
enum class device_read_result : std::uint8_t {
    completed,         ///< the device answered for every tag, well or badly
    no_communication,  ///< the link was or went down before all were answered
    busy,              ///< too many such reads are outstanding; nothing was started
};

/// Told on the source's shard, exactly once for each accepted read, never from inside `read`.
class device_read_listener {
  public:
    virtual void device_read_finished(std::uint64_t ticket, device_read_result result) = 0;

  protected:
    ~device_read_listener() = default;
};

/// One value to be written, in slot form and of the tag's type; or some elements of an array that
/// follow one another, the others not touched.
struct source_write {
    tag_handle tag{};
    std::span<const std::byte> value{};
    std::uint32_t first_element = 0;  ///< counted from 0, whatever the array's lower bound
    std::uint32_t elements = 0;       ///< 0: the whole value
};

/// What came of it: never more than one of these for a write, and never none.
struct write_outcome {
    reason_id reason = reason_id::write_not_sent;
    /// That the device has confirmed: exact when the value was partly written; of a write whose
    /// outcome is unknown, what was confirmed before.
    std::uint32_t bytes_written = 0;
    /// The device's own code where it refused: of the first item, or of the request (over 0xFF).
    int device_code = -1;
};

/// On the source's shard.
class write_listener {
  public:
    /// Asked once, right before the first byte of an accepted write is handed on, possibly from
    /// inside `write`. From here on its outcome depends on the device.
    /// @return false when nobody wants it any more: nothing is sent, and it finishes as
    ///   `write_not_sent`.
    virtual bool write_starting(std::uint64_t /*ticket*/) { return true; }

    /// Exactly once for each accepted write, never from inside `write`.
    virtual void write_finished(std::uint64_t ticket, const write_outcome& outcome) = 0;

  protected:
    ~write_listener() = default;
};

/// One thing a device says it has.
struct browsed_item {
    std::string_view name;
    std::string_view address;
    std::string_view type;
};
class browse_listener {
  public:
    virtual void browsed(const browsed_item& item) = 0;
    virtual void browse_finished(reason_id reason) = 0;

  protected:
    ~browse_listener() = default;
};

class source;

/// What happens to a source besides its changes of state.
enum class source_event_kind : std::uint8_t {
    item_failed,        ///< the device refused a tag that it delivered before, or never did
    request_timed_out,  ///< no answer in time
    request_refused,    ///< the device refused a whole request
    reply_unusable,     ///< an answer that contradicts its request
    scan_late,          ///< a scan was skipped because the one before was not over
};

struct source_event {
    source_event_kind kind{};
    std::string_view tag{};         ///< path of the tag it is about, if it is about one
    std::string_view scan_class{};  ///< likewise
    reason_id reason = reason_id::none;
    int device_code = -1;  ///< the device's own code, if there is one
};

/// Told on the source's shard.
class source_observer {
  public:
    /// Of every change of its state, and when an attempt to connect has failed while it is
    /// `waiting`.
    virtual void source_changed(const source& which, source_state before) = 0;
    virtual void source_event_happened(const source& /*which*/, const source_event& /*what*/) {}

  protected:
    ~source_observer() = default;
};

/// All calls on the source's shard, except `status`. Allocates in `apply` and when its link comes
/// up, not in scans.
class source {
  public:
    virtual ~source() = default;

    /// "s7": static storage.
    virtual std::string_view protocol() const noexcept = 0;

    /// Plans the reads of a connection's tags; before `start`, and again whenever the model
    /// changes. Tags that are new begin to be read, tags that are gone are not touched any more
    /// when this returns. Both arguments are valid until the next call of this or destruction.
    virtual void apply(const tag_model& model, const connection_definition& connection) = 0;

    /// Begins to connect and to scan; keeps trying for ever.
    virtual void start() = 0;
    /// Ends both; tags become `shutting_down`. `stopped` turns true when nothing is outstanding.
    virtual void stop() = 0;
    virtual bool stopped() const noexcept = 0;

    /// Asks the device for these tags now and publishes what comes, as a scan would. Reads of one
    /// block join. Tags that are not of this connection are skipped.
    /// @param tags read during the call only.
    /// @return false when too many are outstanding: the listener will not be told anything.
    virtual bool read(std::span<const tag_handle> tags, std::uint64_t ticket,
                      device_read_listener& listener) = 0;

    /// Sends one value to the device. The table is not changed by a write; once it has ended, its
    /// block is read. Writes of one tag keep the order of the calls, whoever makes them: the next
    /// is sent when the one before it has ended. Writes of different tags may overtake each other.
    /// @param write its value is copied.
    /// @return `none` when accepted and the listener will be told; otherwise why it was refused
    ///   before anything was sent, and the listener will not be told anything.
    virtual reason_id write(const source_write& write, std::uint64_t ticket,
                            write_listener& listener) = 0;

    /// Lists what the device says it has below `address` (empty: everything).
    /// @return false when the protocol or the device cannot: the listener is not told anything.
    virtual bool browse(std::string_view address, browse_listener& listener) = 0;

    /// Any thread. Each number is true by itself; they may be a moment apart.
    virtual source_status status() const noexcept = 0;
};

}  // namespace tagferry::gateway
