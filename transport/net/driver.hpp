// Owns one connected stream and moves bytes between it and one engine. Every system call on a
// connection is made here.
//
//   ready (readable)  -> one receive -> engine::receive            within the turn
//   end_turn          -> engine::pull -> one write                 at its end
//   after_turn        -> engine::written, engine::closed           when all drivers have acted
//
// A write that the socket does not take whole waits for readiness; meanwhile the engine keeps what
// it produces, and the next pull takes at most 16 messages (TX2). At most one batch is in the
// driver, so what waits here is bounded by `send_batch::max_bytes` or by one message (TX9).
#pragma once

#include "transport/engine.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "transport/net/driver_options.hpp"
#include "transport/net/gather.hpp"
#include "transport/net/input_feed.hpp"
#include "transport/net/tcp_stream.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"

namespace tagferry::transport {

/// Who keeps a driver.
class driver_owner {
  public:
    /// The connection is over and `engine::closed` has been called. The driver may be destroyed in
    /// this call; it does nothing more by itself.
    virtual void driver_finished(const close_info& info, time_point now) = 0;

  protected:
    ~driver_owner() = default;
};

/// `Stream` is `tcp_stream`, or a scripted one in tests: `open`, `set_interest`, `interest`,
/// `read_some`, `write_some`, `take_error`, `shutdown_send`,
/// `reset_on_close`, `close`.
template <class Stream>
class basic_driver final : public engine_host,
                           private descriptor_watcher,
                           private turn_participant,
                           private after_turn_participant,
                           private next_turn_participant,
                           private sweep_participant,
                           private pool_waiter {
  public:
    /// Messages of one pull after the socket was blocked (TX2).
    static constexpr std::size_t drain_messages = 16;

    /// @param arguments make the stream. Everything referred to must outlive the driver.
    template <class... Arguments>
    basic_driver(shard& home, engine& mind, driver_owner& owner, const driver_options& options,
                 Arguments&&... arguments)
        : shard_(home),
          engine_(mind),
          owner_(owner),
          options_(options),
          traffic_(*options.counters),
          stream_(std::forward<Arguments>(arguments)...),
          feed_(options.large_frames) {}
    /// The connection must be over, or never have been opened.
    ~basic_driver() = default;
    basic_driver(const basic_driver&) = delete;
    basic_driver& operator=(const basic_driver&) = delete;

    /// Opens the engine and begins to watch the stream. Within a turn.
    void open(time_point now);

    /// Ends the connection at once and tells engine and owner before it returns. Not from inside
    /// an engine call.
    void shut(close_reason reason, time_point now);

    void output_ready() noexcept override;
    void close_after_flush(close_reason reason) noexcept override;
    void abort(close_reason reason) noexcept override;

    /// Bytes pulled from the engine and not yet taken by the socket, exactly (TX9).
    std::size_t pending_bytes() const noexcept { return batch_.bytes() - sent_; }
    /// Messages pulled and not yet reported, exactly.
    std::size_t pending_messages() const noexcept {
        return batch_.message_sizes().size() - reported_;
    }
    Stream& stream() noexcept { return stream_; }

  private:
    enum class phase : std::uint8_t {
        unopened,
        open,
        flushing,  ///< sending what is left, before the close; input is not read
        draining,  ///< everything sent and the sending side shut: throwing input away (TX8)
        closed,    ///< the stream is closed; reports and `engine::closed` follow
        finished,
    };

    void ready(readiness what) override;
    void end_turn(time_point now) override;
    void after_turn(time_point now) override;
    void next_turn(time_point now) override;
    time_point deadline() const noexcept override;
    void expire(time_point now) override;
    void slot_returned() noexcept override;

    bool may_read() const noexcept { return input_ == input_state::hungry && !choked_; }
    [[gnu::cold]] bool wants_input() noexcept;
    void receive(time_point now);
    void show(time_point now);
    [[gnu::cold]] void receive_otherwise(readiness what);
    [[gnu::cold]] void receive_failed(io_result got) noexcept;
    [[gnu::cold]] void hold_back() noexcept;
    [[gnu::cold]] void await_rest_of_frame(time_point now) noexcept;
    [[gnu::cold]] void end_of_input() noexcept;
    [[gnu::cold]] void drain() noexcept;
    [[gnu::cold]] void resume_input(time_point now);

    bool pull(time_point now);
    void flush(time_point now);
    void write_batch(time_point now) noexcept;
    bool write_once(time_point now) noexcept;
    io_result offer(std::size_t& offered) noexcept;
    io_result offer_pieces(std::size_t& offered) noexcept;
    [[gnu::cold]] bool sent_in_part(io_result result, std::size_t offered, time_point now) noexcept;
    [[gnu::cold]] void block(time_point now) noexcept;
    [[gnu::cold]] void weigh_pending() noexcept;
    [[gnu::cold]] void finish_flush() noexcept;

    void report_and_pull(time_point now);
    void report_sent();
    [[gnu::cold]] void report_unsent();
    [[gnu::cold]] void fail(close_reason reason, std::error_code error) noexcept;
    [[gnu::cold]] void engine_threw() noexcept;
    [[gnu::cold]] void begin_close(close_info info) noexcept;
    [[gnu::cold]] void finish(time_point now);
    [[gnu::cold]] void update_interest() noexcept;

    shard& shard_;
    engine& engine_;
    driver_owner& owner_;
    const driver_options options_;
    traffic& traffic_;
    Stream stream_;

    phase phase_ = phase::unopened;
    input_state input_ = input_state::hungry;
    bool wish_moved_ = false;       ///< the engine may want other input than it said last
    bool all_sent_ = false;         ///< the batch has left whole
    bool choked_ = false;           ///< between high and low water: not reading
    bool blocked_ = false;          ///< a write waits for readiness
    bool was_blocked_ = false;      ///< ... since the batch was pulled
    bool end_seen_ = false;         ///< the peer sends no more
    close_info info_{};             ///< why the connection ends, from `flushing` on
    std::size_t drained_ = 0;       ///< bytes thrown away while draining
    batch_position position_{};     ///< in the batch, of the next byte to send
    std::size_t sent_ = 0;          ///< bytes of the batch that left
    std::size_t reported_ = 0;      ///< messages of the batch reported
    std::size_t reported_end_ = 0;  ///< bytes of the batch up to the last message reported
    time_point frame_deadline_ = time_point::max();
    time_point write_deadline_ = time_point::max();
    time_point linger_deadline_ = time_point::max();
    write_report report_{};  ///< of a message that left; making one is a call
    send_batch batch_;
    input_feed feed_;
};

using tcp_driver = basic_driver<tcp_stream>;
extern template class basic_driver<tcp_stream>;

}  // namespace tagferry::transport
