// The vocabulary between a protocol engine and the driver that does its input and output.
//
// An engine is one side of one protocol on one connection: a plain object that is full duplex,
// never waits, never makes a system call and knows no socket. The driver (transport/net) owns
// the connection and calls the engine on the connection's shard thread only, never recursively:
// no call below is made from inside another call to the same engine.
//
// A *turn* is the handling of one receive, one wake-up or one timer tick. Within a turn an engine
// may be given input, resumed and expired any number of times; at the turn's end the driver pulls
// what the engine wants to send and flushes it in as few writes as it can.
#pragma once

#include "transport/memory/completion_token.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

namespace tagferry::transport {

/// Why a connection ended, or is to be ended.
enum class close_reason : std::uint8_t {
    peer_closed,            ///< end of stream on a frame border
    peer_closed_mid_frame,  ///< end of stream inside a header or body (RX7)
    transport_error,        ///< a system call failed; `close_info::error` says how
    protocol_error,         ///< the peer broke its protocol
    timed_out,              ///< a deadline of the engine or of the driver passed
    requested,              ///< this side asked for it: the conversation is over
    connect_failed,         ///< a client's attempt to connect did not succeed
    refused,                ///< admission limits
    shutting_down,          ///< the process stops
};

/// The reason as one lower-case word for logs and metrics, e.g. "peer_closed". Static storage.
std::string_view name_of(close_reason reason) noexcept;

struct close_info {
    close_reason reason{};
    std::error_code error{};
};

/// What an engine did with the bytes it was shown.
struct receive_result {
    std::size_t consumed = 0;  ///< bytes from the front that the engine is finished with
    /// True when the engine stopped at its own turn limit with more to do, usually a complete
    /// frame in the unconsumed bytes: call again next turn with what is there, without waiting for
    /// more (RX13). Only after this can `receive` be called with no bytes.
    bool more = false;
};

/// What an engine wants to be given next.
struct input_wish {
    /// False stops reading from the peer (back-pressure) until the wish changes.
    bool wanted = true;
    /// Size in bytes of the frame that stands at the front of the unconsumed bytes, counted from
    /// its first byte, once its header has been validated; 0 while unknown or irrelevant. When it
    /// exceeds the staging buffer, the driver rents a large buffer and receives the rest of the
    /// frame straight into it, never taking a byte of the next one (RX4).
    std::size_t frame_size = 0;
};

/// How one message that an engine handed over in `pull` ended (TX5, TX6).
struct write_report {
    std::size_t bytes = 0;    ///< of this message that left; all of it when `error` is clear
    std::error_code error{};  ///< clear: the message is in the kernel's hands whole
};

/// Whoever started a deferred operation, as the one who finishes it sees them. `resume` is called
/// exactly once for each operation, on the shard thread of the owner, never on the stack of the
/// call that started it. `result` is whatever code the interface that took the token defines;
/// bulk results lie in memory that the starter named when it started.
class completion_sink {
  public:
    virtual void resume(completion_token token, std::uint32_t result, time_point now) = 0;

  protected:
    ~completion_sink() = default;
};

/// Messages on their way from an engine to the wire, filled by `engine::pull`. Only views are
/// kept: an added message must stay unchanged until its `written` report.
class send_batch {
  public:
    static constexpr std::size_t max_messages = 64;
    static constexpr std::size_t max_segments = 64;
    static constexpr std::size_t max_bytes = 256 * 1024;

    /// @param message_limit messages this batch takes, 1 to `max_messages`: 64 for the flush at
    ///   the end of a turn, 16 when draining what queued up behind a blocked socket (TX2).
    explicit send_batch(std::size_t message_limit = max_messages) noexcept
        : message_limit_(message_limit) {}

    /// Adds one message of one segment. False: the batch is full; keep the message for the next
    /// pull. A message that is over the caps by itself is taken by an empty batch.
    bool add(std::span<const std::byte> message) noexcept {
        if (message_count_ == message_limit_ || segment_count_ == max_segments ||
            (message_count_ != 0 && bytes_ + message.size() > max_bytes)) {
            return false;
        }
        segments_[segment_count_++] = message;
        message_sizes_[message_count_++] = message.size();
        bytes_ += message.size();
        return true;
    }

    /// Adds one message of several segments, in order. At most `max_segments` segments.
    bool add(std::span<const std::span<const std::byte>> segments) noexcept;

    /// What was added, for the driver.
    std::span<const std::span<const std::byte>> segments() const noexcept {
        return {segments_.data(), segment_count_};
    }
    /// Size in bytes of each message added, in order.
    std::span<const std::size_t> message_sizes() const noexcept {
        return {message_sizes_.data(), message_count_};
    }
    std::size_t bytes() const noexcept { return bytes_; }
    bool empty() const noexcept { return message_count_ == 0; }

    /// Empties the batch for the next pull. For the driver.
    void clear(std::size_t message_limit = max_messages) noexcept {
        message_limit_ = message_limit;
        message_count_ = 0;
        segment_count_ = 0;
        bytes_ = 0;
    }

  private:
    std::size_t message_limit_;
    std::size_t message_count_ = 0;
    std::size_t segment_count_ = 0;
    std::size_t bytes_ = 0;
    // Deliberately not initialised: only the first `segment_count_` and `message_count_` count.
    std::array<std::span<const std::byte>, max_segments> segments_;
    std::array<std::size_t, max_messages> message_sizes_;
};

/// The driver as its engine sees it. All calls on the shard thread; all may be made from inside
/// any engine call.
class engine_host {
  public:
    /// Something changed outside a call from the driver (a resume, a posted event): the engine
    /// has output, or its deadline or input wish moved. The driver looks again at the end of the
    /// current turn. Cheap to call repeatedly.
    virtual void output_ready() noexcept = 0;

    /// Sends what was pulled and what `pull` still gives, then shuts the sending side down and
    /// closes after a bounded drain of unread input, so that a last error message is not reset
    /// away (TX8). `engine::closed` follows with this reason.
    virtual void close_after_flush(close_reason reason) noexcept = 0;

    /// Closes at once; queued messages are reported failed. `engine::closed` follows.
    virtual void abort(close_reason reason) noexcept = 0;

  protected:
    ~engine_host() = default;
};

/// One side of a protocol on one connection. See the head of this file for the rules of calling.
class engine : public completion_sink {
  public:
    virtual ~engine() = default;

    /// The connection is up: just accepted, or just connected (a client engine speaks first).
    /// A client engine that outlives its connection is opened again after each `closed`.
    /// @param host valid until `closed` returns.
    virtual void opened(engine_host& host, time_point now) = 0;

    /// Unconsumed input, oldest byte first. The engine handles every complete frame in it, up to
    /// its turn limit, and may change the bytes in place (decryption). No view into `bytes` may
    /// be kept after return (RX5): debug builds overwrite what was consumed.
    virtual receive_result receive(std::span<std::byte> bytes, time_point now) = 0;

    /// What the engine wants to be given next. Asked after `receive` and `written`, and after
    /// `engine_host::output_ready` and `expire`, before anything more is received.
    virtual input_wish wants_input() const noexcept = 0;

    /// Adds queued messages, oldest first, until there are none or the batch is full.
    virtual void pull(send_batch& batch, time_point now) = 0;

    /// One message added in `pull` is finished; called once for each, in the order added, from
    /// the shard's after-turn list: never inside `pull` or `receive`.
    virtual void written(const write_report& report) = 0;

    /// When `expire` should be called; `time_point::max()` for never. Checked by the shard's
    /// sweep every 100 ms and so exact to that.
    virtual time_point deadline() const noexcept = 0;
    virtual void expire(time_point now) = 0;

    /// The connection is gone. Called exactly once for each `opened`, after every outstanding
    /// `written` report; the host must not be used any more.
    virtual void closed(const close_info& info, time_point now) = 0;
};

}  // namespace tagferry::transport
