// The server's side of one WebSocket of the stream: requests come in, snapshots and deltas go out.
// A request is worked off before the next is read. Output is written only while little waits to be
// sent; what changes meanwhile is conflated, and a client that stays slow is sent away.
#pragma once

#include "transport/memory/pinned_pool.hpp"
#include "transport/time/intrusive_list.hpp"
#include "web/backend/call.hpp"
#include "web/http/upgrade.hpp"
#include "web/live/frame.hpp"
#include "web/live/stream_hub.hpp"
#include "web/live/stream_request.hpp"
#include "web/live/stream_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::web {

class stream_socket final : public upgraded_protocol,
                            public transport::list_hook<of_hub>,
                            public transport::list_hook<with_output> {
  public:
    /// @param who on whose behalf values are read; its texts are copied.
    stream_socket(stream_hub& hub, const actor& who);
    ~stream_socket() override;

    void opened(upgrade_carrier& carrier, transport::time_point now) override;
    transport::receive_result receive(std::span<std::byte> bytes,
                                      transport::time_point now) override;
    bool wants_input() const noexcept override;
    void produce(transport::time_point now) override;
    void sent() override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override;
    void closed() noexcept override;

    // For the hub.

    call context(transport::time_point now) const noexcept { return {who_, now, now, nullptr, {}}; }
    /// Produces at the end of this turn, or when what was written before has left.
    void produce_soon(transport::time_point now) noexcept;
    /// The subscription's tags are known: the client is told.
    void found(subscription& which) noexcept;
    /// The subscription cannot be had.
    void refused(subscription& which, const stream_error& why) noexcept;
    void close(close_code code, std::string_view words) noexcept;

  private:
    friend class stream_hub;

    /// An answer that is still to be written. There is one at most: what would give the next is
    /// not read before.
    enum class reply : std::uint8_t { none, pong, error, unsubscribed };

    void handle(const frame_event& event, transport::time_point now);
    void handle_message(std::string_view text, transport::time_point now);
    void subscribe(const stream_request& request);
    void unsubscribe(std::uint32_t id);
    void answer_error(const stream_error& why) noexcept;
    void drop(subscription& which) noexcept;
    bool put_reply(stream_writer& writer) noexcept;
    bool put_own(stream_writer& writer, transport::time_point now) noexcept;
    bool put_subscriptions(stream_writer& writer, std::size_t& budget) noexcept;
    void put_close() noexcept;
    bool has_room() const noexcept;
    bool has_output() const noexcept;
    void note_pace(transport::time_point now) noexcept;

    stream_hub& hub_;
    upgrade_carrier* carrier_ = nullptr;
    std::string user_;
    std::string peer_;
    actor who_;
    frame_reader reader_;
    transport::pooled_buffer message_;
    std::vector<std::unique_ptr<subscription>> subscriptions_;
    std::size_t turn_ = 0;             // whose message is next
    subscription* finding_ = nullptr;  // no request is read until its tags are known

    reply reply_ = reply::none;
    std::array<char, frame_reader::largest_control> reply_text_{};  // pong: payload; error: subject
    std::size_t reply_text_size_ = 0;
    stream_error error_;
    std::uint32_t unsubscribed_ = 0;

    bool reasons_told_ = false;
    bool ping_due_ = false;
    bool close_due_ = false;
    bool ended_ = false;
    close_code close_code_ = close_code::none;
    std::string_view close_words_;
    transport::time_point ping_at_ = transport::time_point::max();
    transport::time_point silent_at_ = transport::time_point::max();
    transport::time_point message_at_ = transport::time_point::max();
    transport::time_point slow_at_ = transport::time_point::max();
};

}  // namespace tagferry::web
