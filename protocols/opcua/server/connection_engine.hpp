// One connection of the OPC UA server: Hello, secure channel, and the requests that come by it.
#pragma once

#include "protocols/opcua/channel/assembly.hpp"
#include "protocols/opcua/channel/hello.hpp"
#include "protocols/opcua/channel/open_message.hpp"
#include "protocols/opcua/channel/outbox.hpp"
#include "protocols/opcua/channel/sequence.hpp"
#include "protocols/opcua/channel/tokens.hpp"
#include "protocols/opcua/services/service.hpp"
#include "transport/engine.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tagferry::opcua {

class connection_registry;

class connection_engine final : public transport::engine,
                                public operation_owner,
                                public publish_channel,
                                public transport::pool_waiter {
  public:
    /// @param shared and @param registry outlive the engine.
    connection_engine(server_state& shared, connection_registry& registry, std::string_view peer);
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
    /// Not used: deferred operations are resumed through the server.
    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point now) override;

    void resume_operation(operation& resumed, transport::time_point now) override;
    void give_up_operation(operation& gone, status_code why, transport::time_point now) override;
    void slot_returned() noexcept override;

    void begin_message(response_writer& message, std::uint32_t max_response_size) override;
    void send_message(response_writer& message, std::uint32_t request_id,
                      transport::time_point now) override;
    bool may_publish() const noexcept override;
    void tell_when_ready() noexcept override { is_awaited_ = true; }

    std::uint32_t channel_id() const noexcept { return channel_id_; }
    bool is_closing() const noexcept { return phase_ == phase::closing; }
    std::string_view peer() const noexcept { return peer_; }
    /// There is no room for it: it says so once it is open, and ends.
    void refuse() noexcept { refused_ = true; }
    /// Ends the connection to make room for another (E22).
    void evict() noexcept;

  private:
    enum class phase : std::uint8_t { new_, expects_hello, expects_open, open, closing };

    // How far one chunk was handled.
    enum class outcome : std::uint8_t {
        handled,  // it is finished with
        held,     // its request goes on next turn; it stays in the input
        blocked,  // something it needs is not free; it stays in the input
        ended,    // the connection is ending
    };

    transport::turn_budget make_budget(transport::time_point now) const noexcept;
    bool may_admit() const noexcept;
    transport::receive_result handle_frames(std::span<const std::byte> bytes,
                                            transport::time_point now);
    outcome handle(const frame_header& frame, std::span<const std::byte> bytes,
                   transport::time_point now);
    outcome handle_hello(bytes_view body, transport::time_point now);
    outcome handle_open(bytes_view body, transport::time_point now);
    outcome handle_message(const frame_header& frame, bytes_view body, transport::time_point now);
    outcome handle_chunk(chunk_kind kind, std::uint32_t request_id, bytes_view body,
                         transport::time_point now);
    status_code check_symmetric(bytes_view body, transport::time_point now) noexcept;
    status_code check_open(const open_request& request) const noexcept;

    outcome start_request(std::uint32_t request_id, bytes_view body, transport::time_point now);
    void identify(operation& op, decoder& in, transport::time_point now);
    status_code check_session(const service& which, const node_id_view& token, operation& op,
                              transport::time_point now) noexcept;
    outcome go_on(bytes_view body, transport::time_point now);
    step run(operation& op, bytes_view body, transport::time_point now);
    bool keep(operation& op, bytes_view body) noexcept;
    void park(operation& op) noexcept;
    void answer(operation& op, transport::time_point now);
    void write_fault(operation& op) noexcept;
    transport::wall_time_ns wall_now() noexcept;
    void count(const operation& op, transport::time_point now) noexcept;
    void count_answered(transport::time_point now) noexcept;
    void queue(response_writer& response, std::uint32_t request_id, transport::time_point now);

    template <typename Write>
    bool queue_single(Write&& write) noexcept;
    outcome end_with(status_code why, transport::close_reason reason) noexcept;
    void tell(server_event what, status_code result) noexcept;

    server_state& server_;
    connection_registry& registry_;
    transport::engine_host* host_ = nullptr;
    phase phase_ = phase::new_;
    bool refused_ = false;          // no room for it
    bool blocked_ = false;          // a frame waits for a response slot
    bool is_awaited_ = false;       // publishing waits until more may be queued
    std::uint32_t frame_size_ = 0;  // of the incomplete frame at the front of the input
    std::uint32_t channel_id_ = 0;
    negotiated agreed_{};
    channel_tokens tokens_{};
    inbound_sequence received_{};
    outbound_sequence sent_{};
    assembly assembly_{};
    transport::turn_budget* budget_ = nullptr;  // of the present turn
    operation* running_ = nullptr;              // its chunk is still at the front of the input
    transport::time_point phase_deadline_ = transport::time_point::max();
    transport::time_point frame_deadline_ = transport::time_point::max();  // of a frame begun
    transport::wall_time_ns wall_now_ = 0;                 // of the present turn; 0: not read yet
    const transport::operation_kind* answered_ = nullptr;  // what `answered_count_` are
    std::uint32_t answered_count_ = 0;  // requests of the present turn, not yet counted
    outbox outbox_;
    std::string peer_;
    std::string endpoint_url_;
    channel_facts channel_{};  // since it is open
};

}  // namespace tagferry::opcua
