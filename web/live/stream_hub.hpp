// The stream of one shard: takes what changed from the feed once, and hands it to every
// subscription that has the tag. All of its work is done in bounded portions, a turn each.
#pragma once

#include "transport/memory/pinned_pool.hpp"
#include "transport/time/clock.hpp"
#include "transport/time/intrusive_list.hpp"
#include "web/backend/execution.hpp"
#include "web/backend/feed.hpp"
#include "web/backend/values.hpp"
#include "web/http/later_queue.hpp"
#include "web/http/limits.hpp"
#include "web/live/stream_counters.hpp"
#include "web/live/subscription.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tagferry::web {

struct with_output {};
struct of_hub {};

class stream_hub final : public transport::completion_sink, private later_member {
  public:
    /// Everything outlives the hub. @param scratch at least `2 * source.largest_value_size()`
    ///   bytes, free between calls.
    stream_hub(const http_limits& limits, web::feed& news, web::values& source, execution& executor,
               later_queue& later, const transport::clock& time, std::span<std::byte> scratch);
    ~stream_hub();

    const http_limits& limits() const noexcept { return limits_; }
    web::values& values() const noexcept { return values_; }
    web::feed& feed() const noexcept { return feed_; }
    const transport::clock& clock() const noexcept { return clock_; }
    std::span<std::byte> scratch() const noexcept { return scratch_; }
    entry_pool& entries() noexcept { return entries_; }
    stream_counters& counters() noexcept { return counters_; }
    transport::pinned_pool& message_pool() noexcept { return messages_; }

    /// False: there are as many sockets as there may be, or the gateway stops.
    bool has_room() const noexcept {
        return socket_count_ < limits_.stream_sockets && !shutting_down_;
    }
    void add(stream_socket& socket) noexcept;
    void remove(stream_socket& socket) noexcept;

    /// Every socket is told that the gateway goes away; no new ones are taken.
    void shut_down();

    /// The subscription's tags are to be looked up, in later turns.
    void look_up(subscription& which) noexcept;
    /// False: no entry is left for it.
    bool add_entry(subscription& to, tag_handle tag, std::uint32_t description) noexcept;
    /// Takes over what nobody wants any more and gives its entries back, in later turns.
    void retire(std::unique_ptr<subscription> which) noexcept;

    /// The socket has something to write; it gets its turn.
    void serve(stream_socket& socket) noexcept;
    /// The subscription has something to write, now or when its interval is over.
    void schedule(subscription& which, transport::time_point now) noexcept;

    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point now) override;

  private:
    static constexpr std::size_t drained_at_once = 64;
    static constexpr std::size_t marks_per_turn = 2'048;
    static constexpr std::size_t sockets_per_turn = 16;
    static constexpr std::size_t returns_per_turn = 2'048;

    void go_on(transport::time_point now) override;
    void work_soon() noexcept { later_.add(*this); }
    void take_news(transport::time_point now);
    void mark(entry_id id, transport::time_point now) noexcept;
    void check_revision() noexcept;
    void look_up_one(transport::time_point now);
    void settle(subscription& which) noexcept;
    bool has_work() noexcept;
    void give_back_entries() noexcept;
    void remove_entry(entry_id id) noexcept;
    void serve_sockets(transport::time_point now);

    const http_limits& limits_;
    web::feed& feed_;
    web::values& values_;
    execution& execution_;
    later_queue& later_;
    const transport::clock& clock_;
    std::span<std::byte> scratch_;
    entry_pool entries_;
    transport::pinned_pool messages_;
    stream_counters counters_;

    transport::intrusive_list<stream_socket, of_hub> sockets_;
    std::size_t socket_count_ = 0;
    transport::intrusive_list<stream_socket, with_output> waiting_;
    transport::intrusive_list<subscription, in_work> looked_up_;
    transport::intrusive_list<subscription, in_work> retired_;  // owned

    std::array<std::uint32_t, drained_at_once> drained_{};
    std::size_t drained_size_ = 0;
    std::size_t drained_at_ = 0;
    entry_id marked_next_ = 0;  // of the tag at `drained_at_`, when it was left half marked
    bool news_ = false;
    std::uint64_t revision_ = 0;
    bool shutting_down_ = false;
};

}  // namespace tagferry::web
