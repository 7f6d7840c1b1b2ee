#include "transport/net/tcp_stream.hpp"

#include "transport/memory/check.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tagferry::transport {
namespace {

[[gnu::cold]] io_result failure() noexcept {
    // EINTR cannot happen to a non-blocking call that moves at least a byte; taking it for "later"
    // is right for a level-triggered report in any case.
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        return {io_status::would_block, 0, 0};
    }
    return {io_status::failed, errno, 0};
}

// The library's recv and send are places where a thread may be cancelled, which costs each call in
// a process with threads two atomic exchanges. Nobody here cancels threads. Debug builds take
// them nevertheless: sanitizers look at their arguments.
ssize_t receive(int descriptor, void* into, std::size_t size) noexcept {
    if constexpr (debug_checks) {
        return ::recv(descriptor, into, size, 0);
    }
    return ::syscall(SYS_recvfrom, descriptor, into, size, 0, nullptr, nullptr);
}

ssize_t send(int descriptor, const void* from, std::size_t size) noexcept {
    if constexpr (debug_checks) {
        return ::send(descriptor, from, size, MSG_NOSIGNAL);
    }
    return ::syscall(SYS_sendto, descriptor, from, size, MSG_NOSIGNAL, nullptr, 0);
}

}  // namespace

std::error_code tcp_stream::open(descriptor_watcher& watcher) noexcept {
    interest_ = {.readable = true, .writable = false};
    const auto error = poller_.add(descriptor_, interest_, watcher);
    if (!error) {
        watcher_ = &watcher;
    }
    return error;
}

void tcp_stream::set_interest(descriptor_interest interest) noexcept {
    if (interest != interest_ && watcher_ != nullptr) {
        interest_ = interest;
        poller_.change(descriptor_, interest, *watcher_);
    }
}

io_result tcp_stream::read_some(std::span<std::byte> into) noexcept {
    const ssize_t got = receive(descriptor_, into.data(), into.size());
    if (got > 0) {
        return {io_status::done, 0, static_cast<std::size_t>(got)};
    }
    if (got == 0) {
        return {io_status::end, 0, 0};
    }
    return failure();
}

io_result tcp_stream::write_some(std::span<const iovec> pieces) noexcept {
    ssize_t sent = 0;
    if (pieces.size() == 1) {
        sent = send(descriptor_, pieces[0].iov_base, pieces[0].iov_len);
    } else {
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(pieces.data());  // sendmsg only reads it
        message.msg_iovlen = pieces.size();
        sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL);
    }
    if (sent >= 0) {
        return {io_status::done, 0, static_cast<std::size_t>(sent)};
    }
    return failure();
}

std::error_code tcp_stream::take_error() noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
    return {error, std::system_category()};
}

void tcp_stream::shutdown_send() noexcept {
    ::shutdown(descriptor_, SHUT_WR);
}

void tcp_stream::reset_on_close() noexcept {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void tcp_stream::close() noexcept {
    if (descriptor_ < 0) {
        return;
    }
    if (watcher_ != nullptr) {
        poller_.remove(descriptor_, *watcher_);
        watcher_ = nullptr;
    }
    ::close(descriptor_);
    descriptor_ = -1;
}

}  // namespace tagferry::transport
