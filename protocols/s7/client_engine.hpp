// The S7 client: one connection to one PLC, as an engine.
//
// It connects (COTP, setup communication), keeps as many jobs in flight as the PLC grants, matches
// replies on the full 16-bit reference, and completes every job it accepted exactly once, in
// bounded time, whatever the peer or the link does. It never reconnects by itself: whoever owns it
// opens it again after `closed`. It belongs to one shard thread.
#pragma once

#include "protocols/s7/session/job_table.hpp"
#include "protocols/s7/session/link_reason.hpp"
#include "protocols/s7/wire/fragments.hpp"
#include "protocols/s7/wire/limits.hpp"
#include "protocols/s7/wire/variables.hpp"
#include "transport/engine.hpp"
#include "transport/memory/operations.hpp"
#include "transport/memory/pinned_pool.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tagferry::s7 {

/// One job, request and reply, is one operation of these kinds.
inline const transport::operation_kind s7_read = transport::register_operation_kind("s7_read");
inline const transport::operation_kind s7_write = transport::register_operation_kind("s7_write");

enum class link_state : std::uint8_t {
    down,         ///< no connection
    connecting,   ///< transport is up, COTP connect request is out
    negotiating,  ///< COTP is up, setup communication is out
    up,           ///< jobs can be submitted
};

struct negotiated_limits {
    std::size_t pdu_size = 0;   ///< bytes
    std::size_t window = 0;     ///< jobs in flight
    std::size_t tpdu_size = 0;  ///< bytes the peer takes in one TPDU
};

struct link_event {
    link_state state = link_state::down;
    link_reason reason = link_reason::none;
    /// Disconnect reason byte, S7 error of a refused setup, or 0.
    std::uint16_t detail = 0;
    negotiated_limits limits;  ///< set when up
};

/// How a job ended.
enum class job_outcome : std::uint8_t {
    answered,        ///< a usable reply came; each item has its own code
    refused,         ///< the PLC refused the whole job; `error` says why
    reply_unusable,  ///< a reply came that does not fit the request
    timed_out,       ///< sent, and not answered in time
    link_lost,       ///< sent, then the link ended
    not_sent,        ///< the link ended, or was closed, before it was sent
};

struct item_result {
    item_code code = item_code::never_executed;
    /// What was read, as the PLC keeps it; empty unless `code` is success, and for writes.
    std::span<const std::byte> bytes;
};

struct job_result {
    job_kind kind = job_kind::read;
    std::uint64_t tag = 0;  ///< as given to submit
    job_outcome outcome = job_outcome::answered;
    std::uint16_t error = 0;  ///< job-level error when refused
    /// One per request item when answered, otherwise empty. Valid during the call only.
    std::span<const item_result> items;
    transport::time_point sent{};     ///< epoch when it was not sent
    transport::time_point arrived{};  ///< when the reply was complete, or the job given up
};

/// Whoever uses the client. Called on the shard thread from inside engine calls; jobs may be
/// submitted from inside, the engine must not be destroyed.
class client_observer {
  public:
    /// Every change of state. `down` is the last word of a connection: by then every job has been
    /// finished.
    virtual void link_changed(const link_event& event) = 0;
    /// Exactly once for each accepted job, never from inside `submit`.
    virtual void job_finished(const job_result& result) = 0;
    /// The window or the queue has room again after a submit was turned away.
    virtual void capacity_available() {}

  protected:
    ~client_observer() = default;
};

/// What `client_options::queued_jobs` may be at most.
inline constexpr std::size_t max_queued_jobs = 64;

struct client_options {
    std::uint16_t local_tsap = 0x0100;
    std::uint16_t remote_tsap = tsap_of(2, 0, 1);  ///< see `tsap_of`
    std::size_t pdu_size = 960;                    ///< asked for, 112 to 2048
    std::size_t max_jobs = 8;                      ///< own limit of jobs in flight, 1 to 32
    std::size_t queued_jobs = 8;                   ///< accepted beyond the window, from 1
    std::size_t max_items = 20;                    ///< largest job accepted in items, 1 to 255
    transport::duration handshake_timeout = std::chrono::seconds(3);
    transport::duration job_timeout = std::chrono::seconds(2);
    /// Timeouts in a row after which the link is given up. It is too when nothing was heard while a
    /// job waited, or when jobs given up hold more than half of the window.
    std::size_t timeouts_in_a_row = 3;
};

/// Since construction. Each is monotonic.
struct client_counters {
    std::uint64_t jobs_sent = 0;
    std::uint64_t jobs_answered = 0;
    std::uint64_t jobs_refused = 0;
    std::uint64_t jobs_timed_out = 0;
    std::uint64_t jobs_lost = 0;  ///< sent or queued when the link ended
    std::uint64_t replies_unusable = 0;
    std::uint64_t replies_late = 0;     ///< to a job already given up
    std::uint64_t replies_foreign = 0;  ///< with a reference that is not ours, or not a reply
    std::uint64_t handshakes = 0;       ///< times the link came up
};

class client_engine final : public transport::engine {
  public:
    /// @param pool with slots of at least `options.pdu_size + 7` bytes; `max_jobs + queued_jobs +
    ///   1` of them are held for the life of the engine. Must outlive it, as must the observer.
    /// Throws std::invalid_argument when an option is out of range, std::length_error when the
    /// pool has too few slots or too small ones.
    client_engine(const client_options& options, transport::pinned_pool& pool,
                  client_observer& observer);
    ~client_engine() override;

    /// Accepts one read job. The items are copied; the reply's sizes are checked against them.
    /// @param tag comes back in the result.
    /// @return false, and nothing happens, when the link is not up, the queue is full, or the job
    ///   does not fit the negotiated PDU in either direction.
    bool submit_read(std::uint64_t tag, std::span<const variable> items);
    /// Accepts one write job; bytes are copied. Queued writes go ahead of queued reads and keep
    /// their order among themselves, but a PLC may execute two that are in flight in any order:
    /// who needs an order waits for the first. One place of the window always stays
    /// for reads; in a window of one, reads and writes alternate.
    bool submit_write(std::uint64_t tag, std::span<const write_item> items);

    /// Jobs that can be submitted now: 0 unless up.
    std::size_t free_slots() const noexcept;
    std::size_t jobs_in_flight() const noexcept;
    std::size_t jobs_queued() const noexcept;
    link_state state() const noexcept { return state_; }
    /// As negotiated; all 0 unless up.
    const negotiated_limits& limits() const noexcept { return limits_; }
    const client_counters& counters() const noexcept { return counters_; }

    /// Ends the link from this side. Once it is closed, jobs not sent complete as not_sent, sent
    /// ones as link_lost. No effect when down.
    void disconnect() noexcept;

    void opened(transport::engine_host& host, transport::time_point now) override;
    transport::receive_result receive(std::span<std::byte> bytes,
                                      transport::time_point now) override;
    transport::input_wish wants_input() const noexcept override { return {true, frame_size_}; }
    void pull(transport::send_batch& batch, transport::time_point now) override;
    void written(const transport::write_report& report) override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override;
    void closed(const transport::close_info& info, transport::time_point now) override;
    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point now) override;

  private:
    /// Messages with the driver, oldest first: a slot index, or this for one of the handshake.
    static constexpr std::uint8_t handshake_message = 0xFF;
    static constexpr std::size_t max_outstanding = job_table::max_slots + 2;

    bool submit(job_kind kind, std::uint64_t tag, std::size_t items, std::size_t index,
                std::size_t request_size);
    std::optional<std::size_t> admit(std::size_t items, std::size_t request, std::size_t reply);
    void take_frame(std::span<const std::byte> frame, transport::time_point now);
    void take_confirm(const cotp_tpdu& tpdu, transport::time_point now);
    void take_setup_reply(const s7_message& message, transport::time_point now);
    void take_reply(const s7_message& message, transport::time_point now);
    job_outcome judge_reply(const job_slot& slot, const s7_message& message);
    bool read_items(const job_slot& slot, const s7_message& message);
    bool write_items(const job_slot& slot, const s7_message& message);
    void finish(std::size_t index, job_outcome outcome, std::uint16_t error,
                transport::time_point now);
    void fail_all(transport::time_point now);
    void give_up(link_reason reason, std::uint16_t detail, transport::close_reason close);
    void report_state(link_reason reason, std::uint16_t detail);
    void offer_capacity();
    void remember_outstanding(std::uint8_t message) noexcept;

    client_options options_;
    client_observer& observer_;
    job_table jobs_;
    transport::pooled_buffer joiner_buffer_;
    fragment_joiner joiner_;
    fragment_cutter cutter_;
    transport::engine_host* host_ = nullptr;
    link_state state_ = link_state::down;
    /// Set when this side has given the connection up; nothing is read or sent from then on.
    link_reason ending_ = link_reason::none;
    std::uint16_t ending_detail_ = 0;
    negotiated_limits limits_;
    client_counters counters_;
    std::size_t frame_size_ = 0;
    transport::time_point handshake_deadline_{};
    std::size_t timeouts_in_a_row_ = 0;
    transport::time_point last_heard_{};  ///< when the last reply came, or the link began
    bool handshake_unsent_ = false;  ///< the message of the present state is still to be pulled
    bool turned_away_ = false;       ///< a submit found no room since capacity was last offered
    std::array<std::byte, 48> connect_message_{};
    std::size_t connect_size_ = 0;
    std::array<std::byte, 32> setup_message_{};
    std::size_t setup_size_ = 0;
    std::vector<item_result> results_;
    std::array<std::uint8_t, max_outstanding> outstanding_{};
    std::size_t outstanding_first_ = 0;
    std::size_t outstanding_count_ = 0;
};

}  // namespace tagferry::s7
