// Where a simulated PLC lets itself be made to misbehave. `fault_script.hpp` has the faults by
// name.
#pragma once

#include "protocols/s7/wire/codes.hpp"
#include "protocols/s7/wire/message.hpp"
#include "transport/time/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tagferry::s7 {

/// What becomes of one job.
struct job_fate {
    enum class action : std::uint8_t {
        answer,         ///< as a PLC would
        refuse,         ///< an ack with `error` and nothing else; not carried out
        ignore,         ///< neither carried out nor answered; the connection stays
        lose,           ///< carried out and never answered; the connection stays
        drop,           ///< not carried out: the connection is reset at once
        lose_and_drop,  ///< carried out, and the connection is reset before the answer leaves
    };
    static constexpr std::size_t all_items = std::numeric_limits<std::size_t>::max();

    action what = action::answer;
    std::uint16_t error = 0;
    transport::duration delay{0};  ///< on top of the configured latency
    /// Items of a read or write fail with this; what fails is not written.
    item_code item_error = item_code::success;
    /// Which item `item_error` meets, modulo their number; or all of them.
    std::size_t failing_item = all_items;
    /// Over 0: the answer leaves byte by byte, this much apart, and holds up those behind it.
    transport::duration dribble{0};
    /// Over 0: the answer waits for the next one, so that both leave in one segment; when none
    /// comes for so long, it leaves together with its own copy.
    transport::duration hold{0};
    /// Over 0: the answer is cut into data TPDUs of at most so many bytes, 67 or more.
    std::size_t fragment_size = 0;
    bool twice = false;                ///< the answer leaves twice, if there is room for it
    std::uint16_t reference_flip = 0;  ///< bits of the reference that come back flipped
};

/// What becomes of a new connection.
enum class connection_fate : std::uint8_t {
    serve,
    refuse,  ///< reset before a byte is sent
    ignore,  ///< left open, and nothing that comes on it is ever answered
};

/// Asked by the simulator; one hook serves all connections of a PLC. Shard thread only.
class fault_hook {
  public:
    /// Asked when a connection was accepted.
    virtual connection_fate accept_connection(transport::time_point now) = 0;
    /// Asked once for each job, setup communication included, when it has arrived whole.
    virtual job_fate judge(const s7_message& job, transport::time_point now) = 0;
    /// Whether a data block the PLC holds is there now.
    virtual bool block_exists(std::uint16_t /*block*/, transport::time_point /*now*/) {
        return true;
    }
    /// Largest PDU granted in a setup now, in bytes, beside what the profile says.
    virtual std::size_t pdu_limit(transport::time_point /*now*/) { return largest_pdu; }
    /// How long the PLC has been in STOP up to now, in all: its signals stood still for so long.
    virtual transport::duration time_in_stop(transport::time_point /*now*/) {
        return transport::duration::zero();
    }

  protected:
    ~fault_hook() = default;
};

/// Faults switched by hand: the demo's pulled cable. What they let through is judged by another
/// hook, where there is one.
class manual_faults final : public fault_hook {
  public:
    /// @param behind may be null, and otherwise outlives this.
    explicit manual_faults(fault_hook* behind = nullptr) noexcept : behind_(behind) {}

    /// No connection is accepted; use with `simulated_plc::drop_connections`.
    void refuse_connections(bool on) noexcept { refusing_ = on; }
    /// Nothing is answered any more, on connections old and new.
    void be_silent(bool on) noexcept { silent_ = on; }
    /// Added to each answer.
    void delay_jobs(transport::duration delay) noexcept { delay_ = delay; }

    connection_fate accept_connection(transport::time_point now) override;
    job_fate judge(const s7_message& job, transport::time_point now) override;
    bool block_exists(std::uint16_t block, transport::time_point now) override;
    std::size_t pdu_limit(transport::time_point now) override;
    transport::duration time_in_stop(transport::time_point now) override;

  private:
    fault_hook* behind_;
    bool refusing_ = false;
    bool silent_ = false;
    transport::duration delay_{0};
};

}  // namespace tagferry::s7
