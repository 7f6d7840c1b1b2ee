// Host names to addresses on the worker pool: the system's resolver blocks, for seconds when a
// name server is away.
#pragma once

#include "transport/net/address.hpp"
#include "transport/threads/worker_pool.hpp"

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

namespace tagferry::transport {

/// Whether the error says that there is no such name.
bool is_unknown_name(std::error_code error) noexcept;
/// Whether it says that no name server could tell.
bool is_silent_name_server(std::error_code error) noexcept;
/// Such an error, for who has waited long enough.
std::error_code silent_name_server() noexcept;

/// What a look-up brought.
struct lookup_result {
    std::vector<address> addresses;  ///< in the order to try; empty when there are none
    std::error_code error{};         ///< why there are none
};

/// Told on the shard thread.
class lookup_sink {
  public:
    virtual void looked_up(const lookup_result& result, time_point now) = 0;

  protected:
    ~lookup_sink() = default;
};

/// At most one look-up at a time; a second request while one runs is answered by the one that
/// runs, so a dead name server holds one worker per link and not one per attempt. May be
/// destroyed while a look-up runs.
class name_lookup {
  public:
    name_lookup(shard& owner, worker_pool& workers, lookup_sink& sink) noexcept
        : shard_(owner), workers_(workers), sink_(sink) {}
    ~name_lookup();
    name_lookup(const name_lookup&) = delete;
    name_lookup& operator=(const name_lookup&) = delete;

    /// @return false when the pool takes no more work.
    bool begin(const std::string& host, std::uint16_t port);

  private:
    class request;

    shard& shard_;
    worker_pool& workers_;
    lookup_sink& sink_;
    request* running_ = nullptr;
};

}  // namespace tagferry::transport
