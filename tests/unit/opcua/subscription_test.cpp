// The Subscription service set (Part 4 §5.14): cycles, held Publish requests, messages, lives.
#include "tests/support/opcua/subscriber.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tagferry::opcua {
namespace {

using namespace test;
using codes = std::vector<status_code>;
using numbers = std::vector<std::uint32_t>;

constexpr const char* level = "press/tank/level";

item_wish watch(std::string node, std::uint32_t handle = 1) {
    item_wish wish;
    wish.node = std::move(node);
    wish.client_handle = handle;
    return wish;
}

struct subscription_services : ::testing::Test {
    plant site{};
    subscriber client{site};

    void deliver(float value) { site.gateway.deliver(level, slot_of(value)); }
};

TEST_F(subscription_services, what_is_asked_for_is_revised_into_the_limits) {
    for (const double interval : {0.0, -5.0, std::nan("")}) {
        ASSERT_EQ(client.create(interval), status::good);
        EXPECT_EQ(client.revised_interval, site.bounds.min_publishing_interval_ms);
    }
    client.create(1e12);
    EXPECT_EQ(client.revised_interval, site.bounds.max_publishing_interval_ms);
    client.create(100, 10, 1);
    EXPECT_EQ(client.revised_lifetime, 30U) << "at least three keep-alives";
    client.create(100, 0xFFFF'FFFF, 0xFFFF'FFFF);
    EXPECT_EQ(client.revised_keep_alive, site.bounds.max_keep_alive_count);
    EXPECT_EQ(client.revised_lifetime, site.bounds.max_lifetime_count);
    client.create(100, 0, 0);
    EXPECT_EQ(client.revised_keep_alive, 1U);
    EXPECT_EQ(client.revised_lifetime, 3U);
}

TEST_F(subscription_services, a_change_is_published_after_the_interval_with_its_timestamps) {
    client.create(100);
    client.monitor_one(watch(level, 77));
    client.publish();
    EXPECT_FALSE(client.after(99).arrived);
    const published first = client.after(1);
    ASSERT_TRUE(first.arrived);
    EXPECT_EQ(first.result, status::good);
    EXPECT_EQ(first.subscription_id, client.subscription);
    EXPECT_EQ(first.sequence, 1U);
    EXPECT_EQ(first.available, numbers{1});
    ASSERT_EQ(first.items.size(), 1U);
    EXPECT_EQ(first.items[0].client_handle, 77U);
    EXPECT_EQ(first.items[0].as<float>(), 42.5F);
    EXPECT_NE(first.items[0].source_ticks, 0);
    EXPECT_NE(first.items[0].server_ticks, 0);
    client.publish({{client.subscription, 1}});
    deliver(7);
    const published second = client.after(100);
    EXPECT_EQ(second.sequence, 2U);
    EXPECT_EQ(second.values<float>(), std::vector<float>{7});
    EXPECT_EQ(second.results, codes{status::good});
    EXPECT_EQ(second.available, numbers{2});
}

TEST_F(subscription_services, publishing_switched_off_gives_keep_alives_and_then_what_was_held) {
    client.create(100, 3, 30, 0, false);
    client.monitor_one(watch(level));
    client.publish();
    client.publish();
    const published first = client.after(100);
    EXPECT_TRUE(first.arrived && first.is_keep_alive());
    EXPECT_EQ(first.sequence, 1U);
    EXPECT_EQ(client.set_publishing(true, {client.subscription, 1}),
              (codes{status::good, status::bad_subscription_id_invalid}));
    const published second = client.after(100);
    EXPECT_EQ(second.values<float>(), std::vector<float>{42.5F});
    EXPECT_EQ(second.sequence, 1U);
}

TEST_F(subscription_services, a_publish_without_subscription_says_so) {
    client.publish();
    EXPECT_EQ(client.next().result, status::bad_no_subscription);
    client.create(100);
    client.publish();
    EXPECT_FALSE(client.next().arrived);
    EXPECT_EQ(client.remove({client.subscription, 4711}),
              (codes{status::good, status::bad_subscription_id_invalid}));
    ASSERT_EQ(client.early.size(), 1U) << "held requests are answered when the last one goes";
    EXPECT_EQ(client.early[0].result, status::bad_no_subscription);
}

TEST_F(subscription_services, acknowledgements_are_judged_one_by_one) {
    client.create(100);
    client.monitor_one(watch(level));
    client.publish();
    EXPECT_EQ(client.after(100).sequence, 1U);
    const std::uint32_t own = client.subscription;
    client.publish({{own, 1}, {own, 1}, {own, 0}, {own, 9}, {own + 1, 1}});
    deliver(1);
    const published second = client.after(100);
    EXPECT_EQ(second.results,
              (codes{status::good, status::bad_sequence_number_unknown,
                     status::bad_sequence_number_unknown, status::bad_sequence_number_unknown,
                     status::bad_subscription_id_invalid}));
    client.publish({{own, 2}});
    EXPECT_EQ(client.after(1000).available, numbers{})
        << "a keep-alive with nothing unacknowledged";
}

TEST_F(subscription_services, republish_gives_a_message_again_until_it_is_acknowledged) {
    client.create(100);
    client.monitor_one(watch(level, 5));
    client.publish();
    const std::uint32_t own = client.subscription;
    ASSERT_EQ(client.after(100).sequence, 1U);
    const published again = client.republish(own, 1);
    EXPECT_EQ(again.result, status::good);
    EXPECT_EQ(again.sequence, 1U);
    EXPECT_EQ(again.values<float>(), std::vector<float>{42.5F});
    EXPECT_EQ(client.republish(own, 0).result, status::bad_message_not_available);
    EXPECT_EQ(client.republish(own, 2).result, status::bad_message_not_available);
    EXPECT_EQ(client.republish(own + 1, 1).result, status::bad_subscription_id_invalid);
    client.publish({{own, 1}});
    EXPECT_EQ(client.republish(own, 1).result, status::bad_message_not_available);
}

TEST_F(subscription_services, subscriptions_of_other_sessions_are_unknown) {
    client.create(100);
    const std::uint32_t item = client.monitor_one(watch(level));
    subscriber other{site};
    other.subscription = client.subscription;
    EXPECT_EQ(other.modify(client.subscription, 100, 10, 100), status::bad_subscription_id_invalid);
    EXPECT_EQ(other.set_publishing(false, {client.subscription}),
              codes{status::bad_subscription_id_invalid});
    EXPECT_EQ(other.remove({client.subscription}), codes{status::bad_subscription_id_invalid});
    EXPECT_EQ(other.republish(client.subscription, 1).result, status::bad_subscription_id_invalid);
    other.set_mode(0, {item});
    EXPECT_EQ(other.result, status::bad_subscription_id_invalid);
    other.remove_items({item});
    EXPECT_EQ(other.result, status::bad_subscription_id_invalid);
    other.monitor({watch(level)});
    EXPECT_EQ(other.result, status::bad_subscription_id_invalid);
}

TEST_F(subscription_services, of_several_ready_the_highest_priority_goes_first) {
    numbers made;
    for (const std::uint8_t priority : {std::uint8_t{10}, std::uint8_t{200}, std::uint8_t{100}}) {
        client.create(100, 10, 100, 0, true, priority);
        client.monitor_one(watch(level));
        made.push_back(client.subscription);
    }
    client.publish();
    EXPECT_EQ(client.after(100).subscription_id, made[1]);
    client.publish();
    EXPECT_EQ(client.next().subscription_id, made[2]);
    client.publish();
    EXPECT_EQ(client.next().subscription_id, made[0]);
}

TEST_F(subscription_services, late_data_is_sent_as_soon_as_a_publish_comes) {
    client.create(100);
    client.monitor_one(watch(level));
    site.pass(std::chrono::milliseconds{350});
    client.publish();
    EXPECT_EQ(client.next().values<float>(), std::vector<float>{42.5F});
}

TEST_F(subscription_services, without_publish_requests_the_lifetime_ends_and_a_later_one_tells) {
    client.create(100, 1, 5);
    const std::uint32_t lost = client.subscription;
    client.create(1000, 10, 30);
    site.pass(std::chrono::milliseconds{600});
    client.publish();
    const published told = client.next();
    EXPECT_EQ(told.subscription_id, lost);
    EXPECT_EQ(told.status_change, status::bad_timeout);
    EXPECT_EQ(client.remove({lost}), codes{status::bad_subscription_id_invalid});
    EXPECT_EQ(site.host->statistics().subscriptions, 1U);
}

TEST_F(subscription_services, any_service_on_a_subscription_keeps_it_alive) {
    client.create(100, 1, 5);
    for (int count = 0; count < 5; ++count) {
        site.pass(std::chrono::milliseconds{400});
        EXPECT_EQ(client.modify(client.subscription, 100, 1, 5), status::good);
    }
    site.pass(std::chrono::milliseconds{400});
    client.set_mode(0, {1});
    site.pass(std::chrono::milliseconds{400});
    EXPECT_EQ(site.host->statistics().subscriptions, 1U);
    site.pass(std::chrono::milliseconds{200});
    EXPECT_EQ(site.host->statistics().subscriptions, 0U);
}

TEST_F(subscription_services, a_timeout_hint_below_the_keep_alive_ends_the_publish_only) {
    client.create(100, 50);
    client.publish();
    EXPECT_TRUE(client.after(100).is_keep_alive());
    client.publish({}, 250);
    const published late = client.after(251);
    EXPECT_EQ(late.result, status::bad_timeout);
    EXPECT_EQ(site.host->statistics().subscriptions, 1U);
}

TEST_F(subscription_services, cancel_answers_the_publish_requests_of_its_handle) {
    client.create(100);
    client.publish();
    client.publish();
    const std::uint32_t handle = client.link->handle;
    const bytes rest =
        client.ask(id::cancel_request_binary, [&](encoder& out) { out.u32(handle); });
    decoder in{rest, site.bounds};
    EXPECT_EQ(in.u32(), 1U);
    ASSERT_EQ(client.early.size(), 1U);
    EXPECT_EQ(client.early[0].result, status::bad_request_cancelled_by_client);
    EXPECT_TRUE(client.after(100).is_keep_alive()) << "the other one is still held";
}

TEST_F(subscription_services, modify_changes_the_interval_from_now_on) {
    client.create(1000);
    client.monitor_one(watch(level));
    client.publish();
    ASSERT_EQ(client.modify(client.subscription, 50, 10, 100), status::good);
    EXPECT_EQ(client.revised_interval, 50);
    EXPECT_EQ(client.after(50).items.size(), 1U);
}

TEST_F(subscription_services, a_subscription_outlives_its_connection_and_its_session_finds_it) {
    client.create(100);
    client.monitor_one(watch(level));
    client.publish();
    ASSERT_EQ(client.after(100).sequence, 1U);
    client.publish();
    client.link->driver.shut(transport::close_reason::peer_closed);
    deliver(3);
    site.pass(std::chrono::milliseconds{200});
    ASSERT_EQ(client.reconnect(), status::good);
    EXPECT_EQ(client.republish(client.subscription, 1).values<float>(), std::vector<float>{42.5F});
    client.publish();
    EXPECT_EQ(client.next().values<float>(), std::vector<float>{3});
}

TEST_F(subscription_services, publish_requests_of_the_channel_a_session_left_are_answered_there) {
    client.create(100);
    client.monitor_one(watch(level));
    client.publish();
    raw_client second = site.connect();
    second.open();
    second.token = client.link->token;
    ASSERT_EQ(second.activate(), status::good);
    EXPECT_EQ(client.after(100).result, status::bad_secure_channel_id_invalid);
}

TEST_F(subscription_services, close_session_deletes_subscriptions_only_when_asked_to) {
    for (const bool deletes : {false, true}) {
        subscriber other{site};
        other.create(100, 1, 3);
        other.ask(id::close_session_request_binary, [&](encoder& out) { out.boolean(deletes); });
        ASSERT_EQ(other.result, status::good);
        site.turn();
        EXPECT_EQ(site.host->statistics().subscriptions, deletes ? 0U : 1U);
        site.pass(std::chrono::milliseconds{301});
        EXPECT_EQ(site.host->statistics().subscriptions, 0U) << "its lifetime runs without one";
    }
}

TEST_F(subscription_services, limits_of_subscriptions_hold_for_a_session_and_for_all) {
    limits few;
    few.max_subscriptions = 3;
    few.max_subscriptions_per_session = 2;
    plant small{few};
    subscriber one{small};
    subscriber two{small};
    EXPECT_EQ(one.create(), status::good);
    EXPECT_EQ(one.create(), status::good);
    EXPECT_EQ(one.create(), status::bad_too_many_subscriptions);
    EXPECT_EQ(two.create(), status::good);
    const std::uint32_t made = two.subscription;
    EXPECT_EQ(two.create(), status::bad_too_many_subscriptions);
    two.remove({made});
    small.turn();
    EXPECT_EQ(two.create(), status::good);
}

TEST_F(subscription_services, malformed_and_overlong_requests_are_refused) {
    client.set_publishing(true, {});
    EXPECT_EQ(client.result, status::bad_nothing_to_do);
    client.remove({});
    EXPECT_EQ(client.result, status::bad_nothing_to_do);
    client.ask(id::create_subscription_request_binary, [](encoder& out) { out.u32(1); });
    EXPECT_EQ(client.result, status::bad_decoding_error);
    client.create(100);
    client.ask(id::publish_request_binary, [&](encoder& out) {
        out.u32(site.bounds.max_acknowledgements + 1);
        for (std::uint32_t count = 0; count <= site.bounds.max_acknowledgements; ++count) {
            out.u32(1);
            out.u32(1);
        }
    });
    EXPECT_EQ(client.result, status::bad_too_many_operations);
}

TEST_F(subscription_services, a_slow_client_is_bounded_and_catches_up) {
    client.create(10);
    client.monitor_one(watch(level));
    client.link->driver.hold_output = true;
    for (int count = 0; count < 40; ++count) {
        client.publish();
        deliver(static_cast<float>(count));
        site.pass(std::chrono::milliseconds{10});
    }
    subscriber other{site};
    other.create(10);
    other.monitor_one(watch(level));
    other.publish();
    EXPECT_EQ(other.after(10).values<float>(), std::vector<float>{39}) << "others are not slowed";
    client.link->driver.hold_output = false;
    std::vector<float> seen;
    for (published each = client.next(); each.arrived; each = client.next()) {
        for (const float value : each.values<float>()) {
            seen.push_back(value);
        }
    }
    ASSERT_LE(seen.size(), site.bounds.max_unsent_messages + 1);
    EXPECT_EQ(seen.back(), 39.0F);
}

TEST_F(subscription_services, many_items_are_taken_away_over_several_turns) {
    for (int count = 0; count < 1000; ++count) {
        site.gateway.add_tag("bulk/t" + std::to_string(count), builtin_type::int32, slot_of(count));
    }
    client.create(100);
    std::vector<item_wish> all;
    for (int count = 0; count < 1000; ++count) {
        all.push_back(watch("bulk/t" + std::to_string(count)));
    }
    client.monitor(all);
    EXPECT_EQ(site.host->statistics().monitored_items, 1000U);
    EXPECT_EQ(site.gateway.watched(), 1000U);
    client.remove({client.subscription});
    EXPECT_GT(site.gateway.run_turns(site.time.now()), 3U);
    EXPECT_EQ(site.host->statistics().monitored_items, 0U);
    EXPECT_EQ(site.gateway.watched(), 0U);
}

TEST(edge_E39, a_transfer_needs_the_same_application_and_tells_the_old_session) {
    plant site;
    subscriber from{site};
    subscriber to{site};
    from.create(100);
    const std::uint32_t id = from.subscription;
    from.monitor_one(watch(level));
    from.publish();
    ASSERT_EQ(from.after(100).sequence, 1U);
    from.publish();
    EXPECT_EQ(from.transfer({id}, false), codes{status::bad_nothing_to_do});
    EXPECT_EQ(to.transfer({id, id + 1}, true),
              (codes{status::good, status::bad_subscription_id_invalid}));
    EXPECT_EQ(to.transferred[0], numbers{1});
    const published told = from.next();
    EXPECT_EQ(told.subscription_id, id);
    EXPECT_EQ(told.status_change, status::good_subscription_transferred);
    EXPECT_EQ(from.remove({id}), codes{status::bad_subscription_id_invalid});
    to.publish();
    const published initial = to.after(100);
    EXPECT_EQ(initial.values<float>(), std::vector<float>{42.5F});
    EXPECT_EQ(initial.sequence, 2U);
    EXPECT_EQ(to.republish(id, 1).result, status::good);
}

TEST(edge_E39, ids_do_not_start_from_a_place_that_can_be_guessed) {
    plant first;
    plant second;
    subscriber one{first};
    subscriber two{second};
    one.create();
    two.create();
    EXPECT_NE(one.subscription, two.subscription);
}

TEST(edge_E42, the_oldest_of_too_many_publish_requests_makes_room) {
    limits few;
    few.max_publish_requests_per_session = 3;
    plant site{few};
    subscriber client{site};
    client.create(100);
    numbers sent;
    for (int count = 0; count < 5; ++count) {
        sent.push_back(client.publish());
    }
    for (int count = 0; count < 2; ++count) {
        const published refused = client.next();
        EXPECT_EQ(refused.result, status::bad_too_many_publish_requests);
        EXPECT_EQ(refused.request_id, sent[static_cast<std::size_t>(count)]);
    }
    EXPECT_EQ(client.after(100).request_id, sent[2]);
}

TEST(edge_E43, the_first_message_comes_after_the_first_interval) {
    plant site;
    subscriber client{site};
    client.create(100, 50);
    client.publish();
    EXPECT_FALSE(client.after(99).arrived);
    const published first = client.after(1);
    EXPECT_TRUE(first.arrived && first.is_keep_alive());
    EXPECT_EQ(first.sequence, 1U);
}

TEST(edge_E44, a_keep_alive_comes_after_exactly_so_many_silent_intervals) {
    plant site;
    subscriber client{site};
    client.create(100, 5);
    client.publish();
    ASSERT_TRUE(client.after(100).arrived);
    client.publish();
    EXPECT_FALSE(client.after(499).arrived);
    EXPECT_TRUE(client.after(1).is_keep_alive());
    client.monitor_one(watch(level));
    client.publish();
    ASSERT_EQ(client.after(100).items.size(), 1U);
    client.publish();
    EXPECT_FALSE(client.after(499).arrived);
    EXPECT_TRUE(client.after(1).arrived);
}

TEST(edge_E45, a_keep_alive_carries_the_next_number_and_is_not_kept) {
    plant site;
    subscriber client{site};
    client.create(100, 1);
    for (int count = 0; count < 3; ++count) {
        client.publish();
        const published alive = client.after(100);
        EXPECT_TRUE(alive.is_keep_alive());
        EXPECT_EQ(alive.sequence, 1U);
        EXPECT_TRUE(alive.available.empty());
    }
    EXPECT_EQ(client.republish(client.subscription, 1).result, status::bad_message_not_available);
    client.publish({{client.subscription, 1}});
    EXPECT_EQ(client.after(100).results, codes{status::bad_sequence_number_unknown});
}

TEST(edge_E46, what_was_not_acknowledged_is_kept_up_to_the_limit_oldest_dropped) {
    limits few;
    few.max_retransmission_messages = 4;
    plant site{few};
    subscriber client{site};
    client.create(100);
    client.monitor_one(watch(level));
    published last;
    for (int count = 0; count < 7; ++count) {
        site.gateway.deliver(level, slot_of(static_cast<float>(count)));
        client.publish();
        last = client.after(100);
    }
    EXPECT_EQ(last.sequence, 7U);
    EXPECT_EQ(last.available, (numbers{4, 5, 6, 7}));
    EXPECT_EQ(client.republish(client.subscription, 3).result, status::bad_message_not_available);
    EXPECT_EQ(client.republish(client.subscription, 4).sequence, 4U);
}

TEST(edge_E54, no_message_has_more_notifications_than_asked_for_and_more_follows_at_once) {
    plant site;
    subscriber client{site};
    for (int count = 0; count < 10; ++count) {
        site.gateway.add_tag("bulk/t" + std::to_string(count), builtin_type::int32, slot_of(count));
    }
    client.create(100, 10, 100, 4);
    std::vector<item_wish> all;
    for (std::uint32_t count = 0; count < 10; ++count) {
        all.push_back(watch("bulk/t" + std::to_string(count), count));
    }
    client.monitor(all);
    for (int count = 0; count < 3; ++count) {
        client.publish();
    }
    std::vector<std::int32_t> seen;
    site.pass(std::chrono::milliseconds{100});
    for (const std::size_t expected : {4U, 4U, 2U}) {
        const published part = client.next();
        EXPECT_EQ(part.items.size(), expected);
        EXPECT_EQ(part.more, expected == 4);
        for (const std::int32_t value : part.values<std::int32_t>()) {
            seen.push_back(value);
        }
    }
    EXPECT_EQ(seen, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(edge_E54, a_message_does_not_exceed_what_the_client_takes) {
    plant site;
    for (int count = 0; count < 100; ++count) {
        site.gateway.add_tag("bulk/t" + std::to_string(count), builtin_type::string,
                             slot_of_text(std::string(500, 'x')));
    }
    subscriber client{site, 8'192, 12'000};
    client.create(100);
    std::vector<item_wish> all;
    for (std::uint32_t count = 0; count < 100; ++count) {
        all.push_back(watch("bulk/t" + std::to_string(count), count));
    }
    client.monitor(all);
    std::size_t seen = 0;
    for (const published& each : client.all_within(200, 10)) {
        EXPECT_EQ(each.result, status::good);
        seen += each.items.size();
    }
    EXPECT_EQ(seen, 100U);
}

TEST(edge_E57, thousands_of_items_in_one_call_are_made_over_several_turns) {
    plant site;
    for (int count = 0; count < 3000; ++count) {
        site.gateway.add_tag("bulk/t" + std::to_string(count), builtin_type::int32, slot_of(count));
    }
    subscriber client{site};
    client.create(100);
    std::vector<item_wish> all;
    for (std::uint32_t count = 0; count < 3000; ++count) {
        all.push_back(watch("bulk/t" + std::to_string(count), count));
    }
    const std::size_t yields = client.link->driver.yields;
    EXPECT_EQ(client.monitor(all).size(), 3000U);
    EXPECT_GT(client.link->driver.yields, yields + 5);
    std::size_t seen = 0;
    for (const published& each : client.all_within(150, 6)) {
        EXPECT_LE(each.items.size(), site.bounds.max_notifications_per_message);
        seen += each.items.size();
    }
    EXPECT_EQ(seen, 3000U);
}

}  // namespace
}  // namespace tagferry::opcua
