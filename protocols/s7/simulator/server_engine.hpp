// One connection of a simulated PLC, as an engine: COTP, setup communication, read and write
// variable, on the same wire code as the client.
#pragma once

#include "protocols/s7/simulator/plc.hpp"
#include "protocols/s7/wire/fragments.hpp"
#include "transport/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagferry::s7 {

class server_engine final : public transport::engine {
  public:
    /// Makes all buffers of the connection; `plc` outlives it.
    explicit server_engine(simulated_plc& plc);
    ~server_engine() override;
    server_engine(const server_engine&) = delete;
    server_engine& operator=(const server_engine&) = delete;

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

    /// Closes the connection at once.
    void drop() noexcept;

  private:
    enum class stage : std::uint8_t { closed, deaf, connecting, negotiating, up };
    enum class reply_state : std::uint8_t { free, waiting, with_driver };
    struct reply {
        reply_state state = reply_state::free;
        bool is_packet = false;  ///< carries its headers itself; otherwise a PDU to be cut
        transport::time_point due{};
        std::uint64_t order = 0;
        std::size_t size = 0;  ///< of the message, envelope included
        std::span<std::byte> buffer;
        transport::duration dribble{0};  ///< between its bytes; 0: it leaves whole
        std::size_t dribbled = 0;        ///< bytes given to the driver so far
        bool held = false;               ///< waits for another one to leave with, until `due`
        transport::time_point ready{};   ///< when it would have left
        fragment_cutter cutter;
    };

    bool take_frame(std::span<const std::byte> frame, transport::time_point now);
    bool take_connect(const cotp_tpdu& tpdu, transport::time_point now);
    bool take_message(std::span<const std::byte> pdu, transport::time_point now);
    void queue_answer(const s7_message& job, const job_fate& fate, std::size_t pdu_size,
                      transport::time_point now);
    std::size_t answer(const s7_message& job, const job_fate& fate, std::span<std::byte> to);
    std::size_t answer_setup(const s7_message& job, std::span<std::byte> to);
    std::size_t answer_read(const s7_message& job, const job_fate& fate, std::span<std::byte> to);
    std::size_t answer_write(const s7_message& job, const job_fate& fate, std::span<std::byte> to);
    void spoil(reply& answer, const job_fate& fate);
    void copy(const reply& answer);
    void pair_up(reply& newcomer) noexcept;
    void end_holding(transport::time_point now);
    reply* free_reply() noexcept;
    reply* earliest_waiting() noexcept;
    bool hand_over(reply& answer, transport::send_batch& batch) noexcept;
    void queue(reply& answer, std::size_t size, transport::time_point due);
    void wake(transport::time_point now);
    void schedule() noexcept;

    simulated_plc& plc_;
    transport::engine_host* host_ = nullptr;
    stage stage_ = stage::closed;
    bool ending_ = false;
    std::size_t pdu_size_;
    std::size_t tpdu_size_ = default_tpdu_size;
    std::vector<std::byte> memory_;  // of the joiner and of all replies
    std::vector<reply> replies_;
    reply* dribbling_ = nullptr;       // the answer that is leaving byte by byte
    std::vector<reply*> outstanding_;  // with the driver, oldest first; a ring
    std::size_t outstanding_first_ = 0;
    std::size_t outstanding_count_ = 0;
    std::uint64_t order_ = 0;
    transport::time_point busy_until_{};  // where jobs are worked on one after the other
    fragment_joiner joiner_;
    transport::member_timer<server_engine, &server_engine::wake> timer_{*this};
};

}  // namespace tagferry::s7
