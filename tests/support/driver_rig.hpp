// A driver over a scripted stream, on a shard without a thread and with time moved by hand.
#pragma once

#include "tests/support/frame_engine.hpp"
#include "tests/support/scripted_stream.hpp"
#include "transport/net/driver_impl.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"
#include "transport/time/manual_clock.hpp"

#include <exception>
#include <memory>

namespace tagferry::testing {

class driver_rig final : public transport::driver_owner {
  public:
    using driver_type = transport::basic_driver<scripted_stream>;

    explicit driver_rig(transport::driver_options wished = {})
        : counters("test"), home({.name = "rig"}, clock), options_(wished) {
        options_.counters = &counters;
    }
    ~driver_rig() {
        if (driver != nullptr) {
            const transport::turn_scope turn(home);
            driver->shut(transport::close_reason::shutting_down, home.now());
        }
    }

    /// Makes the driver and opens it, as a listener does.
    void open() {
        const transport::turn_scope turn(home);
        driver = std::make_unique<driver_type>(home, engine, *this, options_, lines);
        driver->open(home.now());
    }

    /// Tells the driver that the stream is ready, in a turn of its own.
    void tell(std::uint32_t events) {
        const transport::turn_scope turn(home);
        if (lines.watcher == nullptr) {
            return;
        }
        try {
            lines.watcher->ready(transport::readiness(events));
        } catch (const std::exception&) {
            ++exceptions;  // a shard contains it
        }
    }

    /// One report of what is ready and wanted. @return false when there is nothing.
    bool tell_once() {
        std::uint32_t events = 0;
        if (lines.watcher == nullptr) {
            return false;
        }
        events |= lines.interest.readable && lines.readable() ? EPOLLIN : 0U;
        events |= lines.interest.writable && lines.writable() ? EPOLLOUT : 0U;
        if (events != 0) {
            tell(events);
        }
        return events != 0;
    }

    /// Runs until nothing is ready and no turn is asked for. A send that would block stays so.
    void settle() {
        do {
            home.poll_here();
        } while (tell_once());
    }

    /// As `settle`, with every send that would block allowed in the end.
    void settle_all() {
        settle();
        while (lines.watcher != nullptr && lines.interest.writable) {
            if (!lines.write_limits.empty() && lines.write_limits.front() == 0) {
                lines.write_limits.pop_front();
            }
            settle();
        }
    }

    void receive(const byte_string& bytes) { lines.receive(bytes); }

    /// Calls something in a turn of its own: what a wake-up does.
    template <class Function>
    void in_a_turn(Function&& function) {
        const transport::turn_scope turn(home);
        function();
    }

    void pass(transport::duration step) {
        clock.advance(step);
        home.wake();
        settle();
    }

    transport::manual_clock clock;
    transport::traffic counters;
    transport::shard home;
    script lines;
    frame_engine engine;
    std::unique_ptr<driver_type> driver;
    std::size_t finished = 0;
    std::size_t exceptions = 0;  ///< that left `ready`

  private:
    void driver_finished(const transport::close_info&, transport::time_point) override {
        ++finished;
        driver.reset();
    }

    transport::driver_options options_;
};

}  // namespace tagferry::testing
