// The messages of the stream, written into a socket's output. What does not fit is left for later:
// nothing here waits, nothing is written by halves.
#pragma once

#include "web/backend/call.hpp"
#include "web/http/output_chain.hpp"
#include "web/live/frame.hpp"
#include "web/live/stream_hub.hpp"
#include "web/live/subscription.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagferry::web {

/// An error answer.
struct stream_error {
    std::uint32_t id = 0;
    std::string_view code;     ///< static storage, like the two below
    std::string_view detail;   ///< one sentence
    std::string_view hint;     ///< empty: none
    std::string_view subject;  ///< what it is about, e.g. a path; empty: none
};

class stream_writer {
  public:
    /// @param context of whoever gets the values.
    stream_writer(stream_hub& hub, output_chain& out, const call& context) noexcept
        : hub_(hub), out_(out), context_(context) {}

    // Each is false when there was no room; nothing is written then.

    bool put_reasons() noexcept;
    bool put_error(const stream_error& error) noexcept;
    /// `{"op":word,"id":id}`.
    bool put_notice(std::string_view word, std::uint32_t id) noexcept;

    /// The next message of a subscription that is ready: which tags, their values, or what
    /// changed. Moves the subscription on.
    /// @param budget entries that may be written, at least 1; what was used is taken off.
    bool put_next(subscription& of, std::size_t& budget) noexcept;

    transport::time_point now() const noexcept { return context_.now; }

    /// What there was no room for waits for a slot of the pool.
    bool waits_for_pool() const noexcept { return waits_for_pool_; }

  private:
    bool put_tags(subscription& of, std::size_t& budget) noexcept;
    bool put_snapshot(subscription& of, std::size_t& budget) noexcept;
    bool put_delta(subscription& of, std::size_t& budget) noexcept;
    bool open(frame_writer& frame) noexcept;
    bool begin(frame_writer& frame, std::string_view word, const subscription& of) noexcept;
    bool has_room_for(frame_writer& frame, output_chain::mark before, bool first) noexcept;
    void put_tag(const stream_entry& entry) noexcept;
    void put_value(const stream_entry& entry, bool with_value) noexcept;
    bool put_values_of(const stream_entry& entry, frame_writer& frame, bool first) noexcept;
    bool finish(frame_writer& frame) noexcept;
    void note_shortage() noexcept;
    void count(std::size_t values) noexcept;

    stream_hub& hub_;
    output_chain& out_;
    const call& context_;
    bool waits_for_pool_ = false;
};

}  // namespace tagferry::web
