#include "transport/threads/poller.hpp"

#include "transport/memory/check.hpp"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

namespace tagferry::transport {
namespace {

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

// Not the library's epoll_wait where it can be helped: see tcp_stream.cpp on cancellation.
long take_reports(int descriptor, std::span<epoll_event> into, int timeout) noexcept {
    const auto room = static_cast<int>(into.size());
    if constexpr (debug_checks) {
        return epoll_wait(descriptor, into.data(), room, timeout);
    }
    return ::syscall(SYS_epoll_pwait, descriptor, into.data(), room, timeout, nullptr, 0);
}

}  // namespace

poller::poller()
    : descriptor_(epoll_create1(EPOLL_CLOEXEC)),
      wake_descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      alarm_descriptor_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    // Edge-triggered, so that nobody has to read them: each write and each ring is reported once.
    // A wake-up needs no watcher, the alarm is known by the poller's own address.
    epoll_event wake{};
    wake.events = EPOLLIN | EPOLLET;
    epoll_event alarm = wake;
    alarm.data.ptr = this;
    if (descriptor_ < 0 || wake_descriptor_ < 0 || alarm_descriptor_ < 0 ||
        epoll_ctl(descriptor_, EPOLL_CTL_ADD, wake_descriptor_, &wake) != 0 ||
        epoll_ctl(descriptor_, EPOLL_CTL_ADD, alarm_descriptor_, &alarm) != 0) {
        const auto error = last_error();
        close_all();
        throw std::system_error(error, "cannot watch descriptors");
    }
}

poller::~poller() {
    close_all();
}

void poller::close_all() noexcept {
    for (const int descriptor : {descriptor_, wake_descriptor_, alarm_descriptor_}) {
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

void poller::wait(bool forever) noexcept {
    waits_.store(waits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const long found = take_reports(descriptor_, events_, forever ? -1 : 0);
    taken_ = 0;
    count_ = found > 0 ? static_cast<std::size_t>(found) : 0;
}

void poller::set_alarm(time_point at) noexcept {
    // Zero would stop the timer; the first nanosecond is as past as any time.
    const auto since_boot = std::max(at.time_since_epoch(), duration{1});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    itimerspec setting{};
    setting.it_value = {seconds.count(), (since_boot - seconds).count()};
    timerfd_settime(alarm_descriptor_, TFD_TIMER_ABSTIME, &setting, nullptr);
}

void poller::wake() noexcept {
    const std::uint64_t one = 1;
    // Can only fail when the counter is full, and then a wake-up is pending.
    [[maybe_unused]] const ssize_t written = write(wake_descriptor_, &one, sizeof one);
}

}  // namespace tagferry::transport
