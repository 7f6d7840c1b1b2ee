// A connected TCP socket as the driver sees it: never blocking, two system calls and no more.
#pragma once

#include "transport/threads/poller.hpp"

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <system_error>

namespace tagferry::transport {

/// How one attempt to move bytes ended.
enum class io_status : std::uint8_t {
    done,         ///< `bytes` moved, over 0
    would_block,  ///< nothing can move now
    end,          ///< the peer sends no more
    failed,       ///< `error` says how
};
struct io_result {
    io_status status = io_status::done;
    int error = 0;  ///< as `errno`; kept so because making an error_code is a call
    std::size_t bytes = 0;
};

/// Owns the descriptor. The watcher is told of readiness between `open` and `close`.
class tcp_stream {
  public:
    /// @param descriptor connected, non-blocking; owned from here on.
    tcp_stream(poller& source, int descriptor) noexcept
        : poller_(source), descriptor_(descriptor) {}
    ~tcp_stream() { close(); }
    tcp_stream(const tcp_stream&) = delete;
    tcp_stream& operator=(const tcp_stream&) = delete;

    /// Begins to watch for input.
    std::error_code open(descriptor_watcher& watcher) noexcept;

    /// What to be told of from now on. A system call only when it differs from before.
    void set_interest(descriptor_interest interest) noexcept;
    descriptor_interest interest() const noexcept { return interest_; }

    /// One receive.
    io_result read_some(std::span<std::byte> into) noexcept;

    /// One send of all pieces in order, 1 to 64 of them.
    io_result write_some(std::span<const iovec> pieces) noexcept;

    /// The error that is pending on the socket; taking it clears it.
    std::error_code take_error() noexcept;

    /// Tells the peer that nothing more comes.
    void shutdown_send() noexcept;

    /// The close to come resets the connection, whatever is still to be sent (RFC 9293 3.10.7.1).
    void reset_on_close() noexcept;

    /// Closes; nothing is reported any more. Nothing when closed already.
    void close() noexcept;

  private:
    poller& poller_;
    int descriptor_;
    descriptor_watcher* watcher_ = nullptr;
    descriptor_interest interest_{};
};

}  // namespace tagferry::transport
