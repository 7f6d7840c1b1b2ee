// Where a simulated PLC lets itself be made to misbehave.
#pragma once

#include "protocols/s7/wire/codes.hpp"
#include "protocols/s7/wire/message.hpp"
#include "transport/time/clock.hpp"

#include <chrono>
#include <cstdint>

namespace tagferry::s7 {

/// What becomes of one job.
struct job_fate {
    enum class action : std::uint8_t {
        answer,  ///< as a PLC would
        refuse,  ///< an ack with `error` and nothing else
        ignore,  ///< never answered; the connection stays
        drop,    ///< the connection is closed at once
    };
    action what = action::answer;
    std::uint16_t error = 0;
    transport::duration delay{0};  ///< on top of the configured latency
    /// Every item of a read or write fails with this; nothing is written.
    item_code item_error = item_code::success;
    /// Over 0: the answer leaves byte by byte, this much apart, and holds up those behind it.
    transport::duration dribble{0};
    bool twice = false;                ///< the answer leaves twice, if there is room for it
    std::uint16_t reference_flip = 0;  ///< bits of the reference that come back flipped
};

/// Asked by the simulator; one hook serves all connections of a PLC. Shard thread only.
class fault_hook {
  public:
    /// Whether a new connection is served; false resets it before a byte is sent.
    virtual bool accept_connection(transport::time_point now) = 0;
    /// Asked once for each job, setup communication included, when it has arrived whole.
    virtual job_fate judge(const s7_message& job, transport::time_point now) = 0;

  protected:
    ~fault_hook() = default;
};

/// Faults switched by hand: the demo's pulled cable.
class manual_faults final : public fault_hook {
  public:
    /// No connection is accepted; use with `simulated_plc::drop_connections`.
    void refuse_connections(bool on) noexcept { refusing_ = on; }
    /// Jobs are taken and never answered.
    void be_silent(bool on) noexcept { silent_ = on; }
    /// Added to each answer.
    void delay_jobs(transport::duration delay) noexcept { delay_ = delay; }

    bool accept_connection(transport::time_point now) override;
    job_fate judge(const s7_message& job, transport::time_point now) override;

  private:
    bool refusing_ = false;
    bool silent_ = false;
    transport::duration delay_{0};
};

}  // namespace tagferry::s7
