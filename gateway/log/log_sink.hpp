// The far end of the log, on the storage thread.
#pragma once

#include "gateway/config/configuration.hpp"
#include "transport/threads/storage_thread.hpp"
#include "transport/time/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace spdlog::sinks {
class sink;
}

namespace tagferry::gateway::log {

/// Writes records made by `logger` to a spdlog sink, and a line of its own when some were
/// dropped before they got here.
class log_sink final : public transport::storage_sink {
  public:
    /// @param target where lines go; standard error in the product (standard_error()).
    log_sink(config::log_format format, const transport::clock& clock,
             std::shared_ptr<spdlog::sinks::sink> target);
    ~log_sink();

    void write(transport::record_kind kind, std::span<const std::byte> record) override;
    void flush() override;
    void dropped(transport::record_kind kind, std::uint64_t records) override;

  private:
    struct writer;
    config::log_format format_;
    const transport::clock& clock_;
    std::unique_ptr<writer> writer_;
};

/// Unbuffered standard error.
std::shared_ptr<spdlog::sinks::sink> standard_error();

}  // namespace tagferry::gateway::log
