// Joins the payloads of data TPDUs to one S7 PDU, and cuts a PDU into data TPDUs.
#pragma once

#include "protocols/s7/wire/cotp.hpp"
#include "protocols/s7/wire/limits.hpp"
#include "transport/engine.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace tagferry::s7 {

/// A PDU that came in one data TPDU is passed through without a copy; only real fragments are
/// gathered in the buffer given at construction.
class fragment_joiner {
  public:
    enum class outcome : std::uint8_t {
        ignored,     ///< an empty data TPDU: an acknowledgement of some peers
        incomplete,  ///< a fragment was kept; more follow
        complete,    ///< `pdu()` is whole
        too_large,   ///< over the limits: the connection cannot be used any more
    };

    /// @param buffer holds at least `limits.max_pdu` bytes and outlives the joiner.
    fragment_joiner(std::span<std::byte> buffer, const wire_limits& limits) noexcept
        : buffer_(buffer), limits_(limits) {}

    /// Takes the next data TPDU.
    outcome add(const cotp_tpdu& tpdu) noexcept;
    /// The last complete PDU; valid until the next `add` and while the TPDU's bytes live.
    std::span<const std::byte> pdu() const noexcept { return pdu_; }
    /// True while fragments wait for their end.
    bool pending() const noexcept { return fragments_ != 0; }
    void reset() noexcept;

  private:
    std::span<std::byte> buffer_;
    wire_limits limits_;
    std::span<const std::byte> pdu_;
    std::size_t filled_ = 0;
    std::size_t fragments_ = 0;
};

/// Hands one S7 PDU to a batch, cut so that no TPDU is over what the peer takes. All but the last
/// TPDU of a PDU have the same header, so it is stored once per connection; the last one's stands
/// in the message buffer itself, in the `envelope_size` bytes before the PDU.
class fragment_cutter {
  public:
    /// @param tpdu_size of the peer in bytes, 128 to 8192. From 67 on (64 of payload) the largest
    ///   PDU is a message that fits into a batch.
    void set_tpdu_size(std::size_t tpdu_size) noexcept;

    /// @param message `envelope_size` bytes of room, then the PDU. Must stay unchanged until its
    ///   `written` report, and so must this object.
    /// @return false when the batch is full: try again with the next one.
    bool add(transport::send_batch& batch, std::span<std::byte> message) const noexcept;

  private:
    std::size_t capacity_ = fragment_capacity(default_tpdu_size);
    std::array<std::byte, envelope_size> full_header_{};
};

}  // namespace tagferry::s7
