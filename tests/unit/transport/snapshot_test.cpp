#include "transport/threads/snapshot.hpp"

#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;

/// Knows how many of its kind live, and on which thread the last one died.
struct configuration {
    static inline std::atomic<int> alive{0};
    static inline std::atomic<std::thread::id> died_on{};
    static constexpr std::uint64_t sound = 0x7A67'FE22;

    explicit configuration(std::uint64_t number_in) : number(number_in) { ++alive; }
    ~configuration() {
        check = 0;
        --alive;
        died_on = std::this_thread::get_id();
    }
    configuration(const configuration&) = delete;
    configuration& operator=(const configuration&) = delete;

    std::uint64_t number;
    std::uint64_t check = sound;
};

class snapshot_test : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(configuration::alive, 0); }
    void TearDown() override { EXPECT_EQ(configuration::alive, 0); }

    static std::unique_ptr<const configuration> number(std::uint64_t n) {
        return std::make_unique<const configuration>(n);
    }
    manual_clock clock;
};

TEST_F(snapshot_test, taken_over_at_the_beginning_of_a_turn_and_kept_through_it) {
    snapshot_hub<configuration> hub;
    shard one({.name = "one", .mailbox_capacity = 16}, clock);
    snapshot_reader<configuration> reader(hub, one);
    EXPECT_EQ(reader.get(), nullptr);
    EXPECT_EQ(hub.publish(number(1)), 1u);
    EXPECT_EQ(reader.get(), nullptr);
    {
        const turn_scope turn(one);
        ASSERT_NE(reader.get(), nullptr);
        EXPECT_EQ(reader.get()->number, 1u);
        EXPECT_EQ(hub.publish(number(2)), 2u);
        const turn_scope inner(one);
        EXPECT_EQ(reader.get()->number, 1u);
        EXPECT_EQ(configuration::alive, 2);
    }
    one.poll_here();
    EXPECT_EQ(reader.get()->number, 2u);
    EXPECT_EQ(reader.generation(), 2u);
    EXPECT_EQ(configuration::alive, 2);
    EXPECT_EQ(hub.collect(), 0u);
    EXPECT_EQ(configuration::alive, 1);
}

TEST_F(snapshot_test, retired_only_when_all_readers_have_acknowledged) {
    snapshot_hub<configuration> hub;
    shard one({.name = "one", .mailbox_capacity = 16}, clock);
    shard two({.name = "two", .mailbox_capacity = 16}, clock);
    snapshot_reader<configuration> first(hub, one);
    {
        snapshot_reader<configuration> second(hub, two);
        hub.publish(number(1));
        one.poll_here();
        two.poll_here();
        hub.publish(number(2));
        hub.publish(number(3));
        one.poll_here();
        EXPECT_EQ(first.get()->number, 3u);
        EXPECT_EQ(second.get()->number, 1u);
        EXPECT_EQ(hub.collect(), 2u);
        EXPECT_FALSE(hub.wait_until_taken_over(1ms));
    }
    // A reader that is gone holds nothing back.
    EXPECT_TRUE(hub.wait_until_taken_over(1ms));
    EXPECT_EQ(hub.collect(), 0u);
    EXPECT_EQ(configuration::alive, 1);
}

TEST_F(snapshot_test, a_reader_that_comes_late_takes_the_latest) {
    snapshot_hub<configuration> hub;
    shard one({.name = "one", .mailbox_capacity = 16}, clock);
    hub.publish(number(1));
    hub.publish(number(2));
    EXPECT_EQ(configuration::alive, 1);
    snapshot_reader<configuration> reader(hub, one);
    one.poll_here();
    EXPECT_EQ(reader.get()->number, 2u);
}

TEST_F(snapshot_test, change_hook_sees_both) {
    struct seen {
        std::uint64_t previous = 99;
        std::uint64_t current = 99;
    } last;
    snapshot_hub<configuration> hub;
    shard one({.name = "one", .mailbox_capacity = 16}, clock);
    const auto note = [](void* object, const configuration* previous,
                         const configuration& current) noexcept {
        *static_cast<seen*>(object) = {.previous = previous == nullptr ? 0 : previous->number,
                                       .current = current.number};
    };
    snapshot_reader<configuration> reader(hub, one, note, &last);
    hub.publish(number(5));
    one.poll_here();
    EXPECT_EQ(last.previous, 0u);
    EXPECT_EQ(last.current, 5u);
    hub.publish(number(6));
    one.poll_here();
    EXPECT_EQ(last.previous, 5u);
    EXPECT_EQ(last.current, 6u);
}

/// Reads in every turn and asks for the next.
struct restless_reader final : next_turn_participant {
    restless_reader(snapshot_hub<configuration>& hub, const clock& source)
        : owner({.name = "reader", .mailbox_capacity = 16}, source), reader(hub, owner) {}
    void next_turn(time_point) override {
        const configuration* const seen = reader.get();
        if (seen != nullptr) {
            // A freed one would have lost its check, and the sanitizers would know.
            sound = sound && seen->check == configuration::sound;
            monotonic = monotonic && seen->number >= last && reader.generation() == seen->number;
            last = seen->number;
            ++reads;
        }
        owner.at_next_turn(*this);
    }
    void begin() {
        owner.post({.run =
                        [](void* object, std::uint64_t, std::uint64_t) {
                            auto& self = *static_cast<restless_reader*>(object);
                            self.owner.at_next_turn(self);
                        },
                    .object = this});
        owner.start();
    }

    shard owner;
    snapshot_reader<configuration> reader;
    bool sound = true;
    bool monotonic = true;
    std::uint64_t last = 0;
    std::uint64_t reads = 0;
};

TEST_F(snapshot_test, no_reader_on_any_thread_sees_a_freed_snapshot) {
    constexpr std::uint64_t publications = 2000;
    const real_clock machine_clock;
    std::atomic<std::uint64_t> acknowledgements{0};
    snapshot_hub<configuration> hub;
    hub.set_acknowledged_hook(
        {.run = [](void* object, std::uint64_t,
                   std::uint64_t) { ++*static_cast<std::atomic<std::uint64_t>*>(object); },
         .object = &acknowledgements});
    {
        restless_reader one(hub, machine_clock);
        restless_reader two(hub, machine_clock);
        one.begin();
        two.begin();
        for (std::uint64_t i = 1; i <= publications; ++i) {
            hub.publish(number(i));
            if (i % 100 == 0) {
                ASSERT_TRUE(hub.wait_until_taken_over(60s));
                EXPECT_EQ(hub.collect(), 0u);
                EXPECT_EQ(configuration::alive, 1);
            }
        }
        for (restless_reader* const each : {&one, &two}) {
            each->owner.stop();
            each->owner.join();
            EXPECT_TRUE(each->sound);
            EXPECT_TRUE(each->monotonic);
            EXPECT_EQ(each->last, publications);
            EXPECT_GT(each->reads, publications / 100);
        }
    }
    EXPECT_EQ(hub.collect(), 0u);
    EXPECT_EQ(configuration::alive, 1);
    EXPECT_EQ(configuration::died_on.load(), std::this_thread::get_id());
    EXPECT_GE(acknowledgements, 2 * publications / 100);
}

}  // namespace
}  // namespace tagferry::transport
