// TX14: many threads hand messages to one connection whose socket takes them in random pieces.
#include "transport/net/driver.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

constexpr std::uint64_t producers = 8;
constexpr std::uint64_t messages_each = 250;

struct header {
    std::uint32_t size = 0;
    std::uint16_t producer = 0;
    std::uint16_t number = 0;
};

std::byte pattern(std::uint64_t producer, std::uint64_t number, std::size_t index) {
    return static_cast<std::byte>((producer * 131 + number * 17 + index * 3) & 0xFF);
}

std::vector<std::byte> make_message(std::uint64_t producer, std::uint64_t number) {
    std::minstd_rand random(static_cast<unsigned>(producer * 1000 + number + 1));
    // Mostly small, now and then up to 64 KiB.
    const std::size_t span = random() % 20 == 0 ? 65'536 : 600;
    std::vector<std::byte> message(sizeof(header) + random() % span);
    const header front{static_cast<std::uint32_t>(message.size()),
                       static_cast<std::uint16_t>(producer), static_cast<std::uint16_t>(number)};
    std::memcpy(message.data(), &front, sizeof front);
    for (std::size_t i = sizeof front; i < message.size(); ++i) {
        message[i] = pattern(producer, number, i);
    }
    return message;
}

/// Sends what is posted to its shard; counts one completion for each.
class collecting_engine final : public engine {
  public:
    void opened(engine_host& giver, time_point) override { host_ = &giver; }
    receive_result receive(std::span<std::byte> bytes, time_point) override {
        return {bytes.size(), false};
    }
    input_wish wants_input() const noexcept override { return {}; }
    void pull(send_batch& batch, time_point) override {
        while (pulled_ < queue_.size() && batch.add(queue_[pulled_])) {
            ++pulled_;
        }
    }
    void written(const write_report& report) override {
        EXPECT_FALSE(report.error);
        EXPECT_EQ(report.bytes, queue_.front().size());
        queue_.pop_front();
        --pulled_;
        if (++completions == producers * messages_each) {
            host_->close_after_flush(close_reason::requested);
        }
    }
    time_point deadline() const noexcept override { return time_point::max(); }
    void expire(time_point) override {}
    void resume(completion_token, std::uint32_t, time_point) override {}
    void closed(const close_info&, time_point) override { ++closes; }

    static void take(void* object, std::uint64_t producer, std::uint64_t number) {
        auto& self = *static_cast<collecting_engine*>(object);
        self.queue_.push_back(make_message(producer, number));
        self.host_->output_ready();
    }

    std::uint64_t completions = 0;
    std::uint64_t closes = 0;

  private:
    engine_host* host_ = nullptr;
    std::deque<std::vector<std::byte>> queue_;
    std::size_t pulled_ = 0;
};

class stopper final : public driver_owner {
  public:
    explicit stopper(shard& target) : target_(target) {}
    void driver_finished(const close_info& info, time_point) override {
        EXPECT_EQ(info.reason, close_reason::requested);
        target_.stop();
    }

  private:
    shard& target_;
};

/// Reads everything in random pieces with pauses, and checks order and content.
class checking_reader {
  public:
    explicit checking_reader(int descriptor) : descriptor_(descriptor) {}

    void run() {
        std::minstd_rand random(7);
        std::vector<std::byte> buffer(65'536);
        for (;;) {
            const std::size_t want = 1 + random() % (random() % 8 == 0 ? buffer.size() : 900);
            const ssize_t got = ::recv(descriptor_, buffer.data(), want, 0);
            if (got <= 0) {
                break;
            }
            stream_.insert(stream_.end(), buffer.begin(), buffer.begin() + got);
            take_messages();
            if (random() % 64 == 0) {
                std::this_thread::yield();
            }
        }
        EXPECT_TRUE(stream_.empty());
        ::close(descriptor_);
    }

    std::uint64_t messages = 0;

  private:
    void take_messages() {
        header front;
        std::size_t begin = 0;
        while (stream_.size() - begin >= sizeof front) {
            std::memcpy(&front, stream_.data() + begin, sizeof front);
            if (stream_.size() - begin < front.size) {
                break;
            }
            ASSERT_LT(front.producer, producers);
            EXPECT_EQ(front.number, next_[front.producer]++);
            for (std::size_t i = sizeof front; i < front.size; ++i) {
                if (stream_[begin + i] != pattern(front.producer, front.number, i)) {
                    ADD_FAILURE() << "byte " << i << " of message " << front.number;
                    break;
                }
            }
            begin += front.size;
            ++messages;
        }
        stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(begin));
    }

    int descriptor_;
    std::vector<std::byte> stream_;
    std::array<std::uint16_t, producers> next_{};
};

TEST(tx14, eight_producers_make_one_exact_stream_with_one_completion_each) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const int small = 4096;
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    const int flags = ::fcntl(ends[0], F_GETFL);
    ASSERT_EQ(::fcntl(ends[0], F_SETFL, flags | O_NONBLOCK), 0);

    const real_clock clock;
    traffic counters("stress");
    shard home({.name = "stress", .mailbox_capacity = 128}, clock);
    collecting_engine engine;
    stopper owner(home);
    tcp_driver driver(home, engine, owner, {.counters = &counters}, home.descriptors(), ends[0]);
    {
        const turn_scope turn(home);
        driver.open(home.now());
    }
    checking_reader reader(ends[1]);
    std::thread reading([&] { reader.run(); });
    home.start();
    std::vector<std::thread> threads;
    for (std::uint64_t producer = 0; producer < producers; ++producer) {
        threads.emplace_back([&home, &engine, producer] {
            std::minstd_rand random(static_cast<unsigned>(producer + 1));
            for (std::uint64_t number = 0; number < messages_each; ++number) {
                while (!home.post({&collecting_engine::take, &engine, producer, number})) {
                    std::this_thread::yield();
                }
                if (random() % 16 == 0) {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (auto& each : threads) {
        each.join();
    }
    home.join();
    reading.join();
    EXPECT_EQ(engine.completions, producers * messages_each);
    EXPECT_EQ(engine.closes, 1u);
    EXPECT_EQ(reader.messages, producers * messages_each);
    EXPECT_GT(counters.blocked_writes.value(), 0u);
    EXPECT_LT(counters.writes.value(), 100'000u);
}

}  // namespace
}  // namespace tagferry::transport
