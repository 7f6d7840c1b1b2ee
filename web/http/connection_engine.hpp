// The server's side of one HTTP/1 connection: takes requests apart, has them answered in order,
// and keeps every bound. Knows no socket (transport/engine.hpp).
//
//   head ──complete──▶ (body ──complete──▶) answering ──written whole──▶ head
//                                              │ waiting / later / more
//                                              ▼ fault, or no keep-alive
//                                           closing
#pragma once

#include "transport/engine.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "web/backend/identity.hpp"
#include "web/backend/request_log.hpp"
#include "web/http/exchange.hpp"
#include "web/http/known_head.hpp"
#include "web/http/later_queue.hpp"
#include "web/http/limits.hpp"
#include "web/http/output_chain.hpp"
#include "web/http/request_counters.hpp"
#include "web/http/request_parser.hpp"
#include "web/http/resource.hpp"
#include "web/http/upgrade.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tagferry::web {

/// What the connections of one shard share. Everything outlives them.
struct connection_shared {
    const http_limits& limits;
    const transport::clock& clock;
    const web::site& site;
    transport::pinned_pool& output_pool;   ///< slots of `output_slot_size`
    transport::pinned_pool& request_pool;  ///< slots of these sizes and `retained_extra_size`
    request_counters& counters;
    later_queue& later;
    web::identity& identity;
    web::request_log& requests;
    std::span<const std::string> host_names;  ///< besides addresses and localhost
    /// What somebody without credentials may do.
    role anonymous_role = role::viewer;
};

class connection_engine final : public transport::engine,
                                private exchange_owner,
                                private upgrade_carrier,
                                private transport::pool_waiter,
                                private later_member {
  public:
    /// @param peer text for the audit log, copied up to 63 bytes.
    connection_engine(const connection_shared& shared, std::string_view peer,
                      channel_security security) noexcept;
    ~connection_engine() override;

    void opened(transport::engine_host& host, transport::time_point now) override;
    transport::receive_result receive(std::span<std::byte> bytes,
                                      transport::time_point now) override;
    transport::input_wish wants_input() const noexcept override;
    void pull(transport::send_batch& batch, transport::time_point now) override;
    void written(const transport::write_report& report) override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override;
    void closed(const transport::close_info& info, transport::time_point now) override;
    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point now) override;

  private:
    static constexpr std::size_t longest_peer = 63;  // an IPv6 address with scope and port

    enum class phase : std::uint8_t {
        head,       // between requests, or inside a head
        body,       // the head is taken, its body is not complete
        producing,  // an answer has more to write, or its end
        waiting,    // an operation for the answer is outstanding
        later,      // the answer goes on in a later turn
        upgraded,   // the connection speaks another protocol
        closing,    // nothing more is read
    };

    transport::completion_token token() const noexcept override { return token_; }
    void slot_returned() noexcept override;
    void go_on(transport::time_point now) override;

    output_chain& out() noexcept override { return out_; }
    void produce_soon() noexcept override;
    void produce_with_next_slot() noexcept override { shared_.output_pool.wait(*this); }
    void abort(transport::close_reason why) noexcept override;

    std::size_t take(std::string_view bytes, transport::time_point now);
    std::size_t take_head(std::string_view bytes, transport::time_point now);
    std::size_t take_body(std::string_view bytes, transport::time_point now);
    void begin_body(transport::time_point now);
    bool admit() noexcept;
    void route() noexcept;
    void dispatch(transport::time_point now);
    progress start(const route_match& match);
    progress refuse_host() noexcept;
    std::optional<progress> authenticate(const route_match& match) noexcept;
    progress refuse_role() noexcept;
    progress answer_options(std::string_view allow) noexcept;
    void handle(progress how);
    void finish();
    void produce(transport::time_point now);
    void abandon() noexcept;
    void count_answer() noexcept;
    void refuse(const request_fault& fault, transport::close_reason why, transport::time_point now);
    void close_after_flush(transport::close_reason why) noexcept override;
    void close_when_flushed() noexcept;
    void start_upgrade();
    void release_request() noexcept;

    const connection_shared& shared_;
    transport::engine_host* host_ = nullptr;
    output_chain out_;
    exchange exchange_;
    std::unique_ptr<upgraded_protocol> upgrade_;
    std::optional<request_parser> parser_;
    known_head known_;
    bool own_host_ = false;  // the request is for this server
    transport::completion_token token_{0, 1};
    phase phase_ = phase::head;
    bool last_part_ = false;      // producing: the resource is done, only the end is to be written
    bool body_complete_ = false;  // producing: the request is whole and waits for an output slot
    bool has_result_ = false;     // producing: the operation waited for has ended with `result_`
    bool close_asked_ = false;    // closing: the host knows
    std::uint32_t result_ = 0;
    bool send_progress_ = false;  // something left since the send deadline was set
    std::size_t scanned_ = 0;     // bytes of the incomplete head that need no second look
    transport::time_point read_deadline_ = transport::time_point::max();
    transport::time_point send_deadline_ = transport::time_point::max();
    transport::time_point answer_deadline_ = transport::time_point::max();
    transport::close_reason closing_for_{};
    std::size_t peer_size_ = 0;
    std::array<char, longest_peer> peer_{};
};

}  // namespace tagferry::web
