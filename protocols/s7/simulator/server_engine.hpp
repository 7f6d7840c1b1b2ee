// One connection of a simulated PLC, as an engine: COTP, setup communication, read and write
// variable, on the same wire code as the client.
#pragma once

#include "protocols/s7/simulator/plc.hpp"
#include "protocols/s7/wire/fragments.hpp"
#include "transport/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
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
    simulated_plc& plc_;
};

}  // namespace tagferry::s7
