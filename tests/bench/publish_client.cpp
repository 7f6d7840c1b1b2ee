// What a notification costs: sessions with a subscription each, whose items all change in every
// publishing interval.
//
//   publish_client SESSIONS ITEMS INTERVAL_MS SECONDS OPCUA_PORT PID
//
// Prints the server's CPU time for a notification: its CPU time over SECONDS with the
// subscriptions less that over SECONDS before there were any, which is the scanning, divided by
// the notifications that came. The tags are plant/moving/t0 and on, the same for every session.
#include "tests/bench/opcua_load.hpp"

#include <array>
#include <cstdlib>
#include <thread>

namespace tagferry::bench {
namespace {

using opcua::encoder;
namespace id = opcua::id;

constexpr std::size_t publishes_held = 3;

void check(const opcua::test::reply& answer, const char* what, bytes& rest) {
    const opcua::status_code result = raw_client::result_of(answer, nullptr, &rest);
    if (result != opcua::status::good) {
        std::fprintf(stderr, "%s: 0x%08X\n", what, static_cast<unsigned>(result));
        std::exit(1);
    }
}

std::uint32_t subscribe(raw_client& client, double interval_ms) {
    bytes rest;
    check(client.call(client.request(id::create_subscription_request_binary,
                                     [&](encoder& out) {
                                         out.float64(interval_ms);
                                         out.u32(1'000);
                                         out.u32(10);
                                         out.u32(0);
                                         out.boolean(true);
                                         out.u8(0);
                                     })),
          "CreateSubscription", rest);
    static const opcua::limits bounds;
    opcua::decoder in{rest, bounds};
    return in.u32();
}

void add_items(raw_client& client, std::uint32_t subscription, std::uint32_t count,
               double interval_ms) {
    bytes rest;
    check(client.call(client.request(id::create_monitored_items_request_binary,
                                     [&](encoder& out) {
                                         out.u32(subscription);
                                         out.u32(2);  // both timestamps
                                         out.u32(count);
                                         for (std::uint32_t item = 0; item < count; ++item) {
                                             raw_client::write_id(
                                                 out, "plant/moving/t" + std::to_string(item));
                                             out.u32(13);
                                             out.string({});
                                             out.qualified_name(0, {});
                                             out.u32(2);  // reporting
                                             out.u32(item);
                                             out.float64(interval_ms);
                                             out.null_extension_object();
                                             out.u32(1);
                                             out.boolean(true);
                                         }
                                     })),
          "CreateMonitoredItems", rest);
    static const opcua::limits bounds;
    opcua::decoder in{rest, bounds};
    if (in.u32() != count || in.u32() != opcua::status::good) {
        std::fputs("CreateMonitoredItems: the items are not there\n", stderr);
        std::exit(1);
    }
}

/// One session's end of the stream of Publish responses.
class subscriber {
  public:
    subscriber(std::uint16_t port) : session_(port) {}

    void begin(std::uint32_t items, double interval_ms) {
        subscription_ = subscribe(session_.client(), interval_ms);
        add_items(session_.client(), subscription_, items, interval_ms);
        for (std::size_t held = 0; held < publishes_held; ++held) {
            publish(0);
        }
    }
    int descriptor() const { return session_.descriptor(); }
    std::uint64_t notifications() const { return notifications_; }

    void receive() {
        const std::size_t before = input_.size();
        input_.resize(before + (std::size_t{1} << 16U));
        const ssize_t got = recv(descriptor(), input_.data() + before, input_.size() - before, 0);
        if (got <= 0) {
            fail("recv");
        }
        input_.resize(before + static_cast<std::size_t>(got));
        std::size_t at = 0;
        while (input_.size() - at >= 8) {
            const auto size =
                transport::load<std::uint32_t>(input_.data() + at + 4, std::endian::little);
            if (input_.size() - at < size) {
                break;
            }
            take(std::span(input_).subspan(at, size));
            at += size;
        }
        input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(at));
    }

  private:
    void publish(std::uint32_t acknowledged) {
        raw_client& client = session_.client();
        const bytes request = client.request(id::publish_request_binary, [&](encoder& out) {
            out.u32(acknowledged == 0 ? 0 : 1);
            if (acknowledged != 0) {
                out.u32(subscription_);
                out.u32(acknowledged);
            }
        });
        if (send(descriptor(), request.data(), request.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(request.size())) {
            fail("send");
        }
    }

    /// A chunk; only whole messages in one chunk are understood.
    void take(std::span<const std::byte> chunk) {
        if (chunk[3] != std::byte{'F'}) {
            std::fputs("a response in several chunks\n", stderr);
            std::exit(1);
        }
        opcua::test::reply answer;
        answer.type = "MSG";
        answer.body.assign(chunk.begin() + 24, chunk.end());
        bytes rest;
        check(answer, "Publish", rest);
        static const opcua::limits bounds;
        opcua::decoder in{rest, bounds};
        in.u32();  // the subscription
        for (std::uint32_t left = in.array_length(4); left != 0; --left) {
            in.u32();  // available sequence numbers
        }
        in.boolean();  // more notifications
        const std::uint32_t sequence = in.u32();
        in.i64();  // publish time
        std::uint32_t count = 0;
        for (std::uint32_t left = in.array_length(3); left != 0; --left) {
            const opcua::extension_object_view data = in.extension_object();
            opcua::decoder body{data.body, bounds};
            count += body.u32();
        }
        if (!in.ok()) {
            std::fputs("a Publish response that cannot be read\n", stderr);
            std::exit(1);
        }
        notifications_ += count;
        publish(count == 0 ? 0 : sequence);
    }

    opcua_session session_;
    std::uint32_t subscription_ = 0;
    std::uint64_t notifications_ = 0;
    bytes input_;
};

void run_for(std::vector<std::unique_ptr<subscriber>>& all, std::chrono::milliseconds time) {
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    for (const auto& each : all) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = each.get();
        epoll_ctl(poller, EPOLL_CTL_ADD, each->descriptor(), &event);
    }
    std::array<epoll_event, 64> events;
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
        const int ready = epoll_wait(poller, events.data(), static_cast<int>(events.size()), 10);
        for (int i = 0; i < ready; ++i) {
            static_cast<subscriber*>(events[static_cast<std::size_t>(i)].data.ptr)->receive();
        }
    }
    close(poller);
}

std::uint64_t notifications_of(const std::vector<std::unique_ptr<subscriber>>& all) {
    std::uint64_t sum = 0;
    for (const auto& each : all) {
        sum += each->notifications();
    }
    return sum;
}

}  // namespace
}  // namespace tagferry::bench

int main(int count, char** arguments) {
    using namespace tagferry::bench;
    if (count != 7) {
        std::fputs("publish_client SESSIONS ITEMS INTERVAL_MS SECONDS OPCUA_PORT PID\n", stderr);
        return 64;
    }
    const auto sessions = std::strtoull(arguments[1], nullptr, 10);
    const auto items = static_cast<std::uint32_t>(std::strtoul(arguments[2], nullptr, 10));
    const double interval_ms = std::strtod(arguments[3], nullptr);
    const std::chrono::seconds time(std::atoi(arguments[4]));
    const auto port = static_cast<std::uint16_t>(std::atoi(arguments[5]));
    const std::string pid = arguments[6];

    std::vector<std::unique_ptr<subscriber>> all;
    for (std::size_t i = 0; i < sessions; ++i) {
        all.push_back(std::make_unique<subscriber>(port));
    }
    double before = cpu_ns(pid);
    std::this_thread::sleep_for(time);
    const double scanning = cpu_ns(pid) - before;
    for (const auto& each : all) {
        each->begin(items, interval_ms);
    }
    run_for(all, std::chrono::seconds(1));
    before = cpu_ns(pid);
    const std::uint64_t seen = notifications_of(all);
    run_for(all, time);
    const double with_subscriptions = cpu_ns(pid) - before;
    const auto notifications = static_cast<double>(notifications_of(all) - seen);
    std::printf(
        "%-20s %.0f notifications/s; %.3f us of server CPU a notification "
        "(scanning alone %.2f %% of a CPU, with subscriptions %.2f %%)\n",
        "publish", notifications / static_cast<double>(time.count()),
        (with_subscriptions - scanning) / notifications / 1e3,
        scanning / static_cast<double>(time.count()) / 1e7,
        with_subscriptions / static_cast<double>(time.count()) / 1e7);
    return 0;
}
