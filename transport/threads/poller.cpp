#include "transport/threads/poller.hpp"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tagferry::transport {
namespace {

constexpr std::int64_t max_timeout_ms = 3'600'000;

std::error_code last_error() noexcept {
    return {errno, std::system_category()};
}

epoll_event make_event(descriptor_interest interest, descriptor_watcher& watcher) noexcept {
    epoll_event event{};
    if (interest.readable) {
        event.events |= EPOLLIN;
    }
    if (interest.writable) {
        event.events |= EPOLLOUT;
    }
    event.data.ptr = &watcher;
    return event;
}

}  // namespace

poller::poller()
    : descriptor_(epoll_create1(EPOLL_CLOEXEC)),
      wake_descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    // Edge-triggered, so that nobody has to read it: each write is reported once.
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLET;
    if (descriptor_ < 0 || wake_descriptor_ < 0 ||
        epoll_ctl(descriptor_, EPOLL_CTL_ADD, wake_descriptor_, &wanted) != 0) {
        const auto error = last_error();
        close_both();
        throw std::system_error(error, "cannot watch descriptors");
    }
}

poller::~poller() {
    close_both();
}

void poller::close_both() noexcept {
    for (const int descriptor : {descriptor_, wake_descriptor_}) {
        if (descriptor >= 0) {
            close(descriptor);
        }
    }
}

std::error_code poller::add(int descriptor, descriptor_interest interest,
                            descriptor_watcher& watcher) noexcept {
    epoll_event wanted = make_event(interest, watcher);
    if (epoll_ctl(descriptor_, EPOLL_CTL_ADD, descriptor, &wanted) != 0) {
        return last_error();
    }
    return {};
}

void poller::change(int descriptor, descriptor_interest interest,
                    descriptor_watcher& watcher) noexcept {
    epoll_event wanted = make_event(interest, watcher);
    epoll_ctl(descriptor_, EPOLL_CTL_MOD, descriptor, &wanted);
}

void poller::remove(int descriptor, const descriptor_watcher& watcher) noexcept {
    epoll_ctl(descriptor_, EPOLL_CTL_DEL, descriptor, nullptr);
    for (std::size_t i = taken_; i < count_; ++i) {
        if (events_[i].data.ptr == &watcher) {
            events_[i].data.ptr = nullptr;
        }
    }
}

int poller::wait_for_events(duration timeout) noexcept {
    const int size = static_cast<int>(events_.size());
    if (timeout <= duration::zero() || timeout == duration::max()) {
        const int timeout_ms = timeout <= duration::zero() ? 0 : -1;
        return epoll_wait(descriptor_, events_.data(), size, timeout_ms);
    }
    if (waits_in_ns_) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
        const timespec span{seconds.count(), (timeout - seconds).count()};
        const int found = epoll_pwait2(descriptor_, events_.data(), size, &span, nullptr);
        if (found >= 0 || (errno != ENOSYS && errno != EPERM)) {
            return found;
        }
        // An old kernel, or a sandbox that does not know the call: milliseconds from now on.
        waits_in_ns_ = false;
    }
    const auto up = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    const auto timeout_ms = static_cast<int>(std::min<std::int64_t>(up, max_timeout_ms));
    return epoll_wait(descriptor_, events_.data(), size, timeout_ms);
}

std::size_t poller::wait(duration timeout) noexcept {
    waits_.store(waits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const int found = wait_for_events(timeout);
    taken_ = 0;
    count_ = found > 0 ? static_cast<std::size_t>(found) : 0;
    for (std::size_t i = 0; i < count_; ++i) {
        if (events_[i].data.ptr == nullptr) {
            // The wake-up, which needs no watcher.
            events_[i] = events_[--count_];
            break;
        }
    }
    return count_;
}

void poller::wake() noexcept {
    const std::uint64_t one = 1;
    // Can only fail when the counter is full, and then a wake-up is pending.
    [[maybe_unused]] const ssize_t written = write(wake_descriptor_, &one, sizeof one);
}

poller::event poller::next() noexcept {
    while (taken_ < count_) {
        const epoll_event& found = events_[taken_++];
        if (found.data.ptr == nullptr) {
            continue;
        }
        return {static_cast<descriptor_watcher*>(found.data.ptr),
                {.readable = (found.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0,
                 .writable = (found.events & EPOLLOUT) != 0,
                 .broken = (found.events & (EPOLLHUP | EPOLLERR)) != 0}};
    }
    return {};
}

}  // namespace tagferry::transport
