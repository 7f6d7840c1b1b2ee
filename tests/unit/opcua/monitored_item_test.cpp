// The MonitoredItem service set (Part 4 §5.13): what items watch, their modes, their samples.
#include "tests/support/opcua/monitored_items.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tagferry::opcua {
namespace {

using namespace test;

TEST_F(monitored_items, queue_and_sampling_are_revised) {
    item_wish wish = watch(level, 1, 0);
    EXPECT_EQ(client.monitor({wish})[0].queue_size, 1U);
    wish.queue_size = 0xFFFF'FFFF;
    EXPECT_EQ(client.monitor({wish})[0].queue_size, site.bounds.max_item_queue_size);
    wish.sampling_ms = 0;
    EXPECT_EQ(client.monitor({wish})[0].sampling_ms, 100) << "the fastest there is";
    wish.sampling_ms = -1;
    EXPECT_EQ(client.monitor({wish})[0].sampling_ms, 1000) << "the publishing interval";
}

TEST_F(monitored_items, an_id_is_unknown_after_its_item_is_deleted) {
    const std::uint32_t first = client.monitor_one(watch(level));
    EXPECT_EQ(client.remove_items({first, first}),
              (codes{status::good, status::bad_monitored_item_id_invalid}));
    const std::uint32_t second = client.monitor_one(watch(level));
    EXPECT_NE(first, second) << "nor does it name the next one";
    EXPECT_EQ(client.set_mode(0, {first}), codes{status::bad_monitored_item_id_invalid});
    EXPECT_EQ(client.modify_item(first, watch(level)).result,
              status::bad_monitored_item_id_invalid);
}

TEST_F(monitored_items, what_cannot_be_monitored_is_refused_one_by_one) {
    item_wish wish = watch("press/nothing");
    EXPECT_EQ(refused(wish), status::bad_node_id_unknown);
    wish = watch(level);
    wish.attribute_id = 99;
    EXPECT_EQ(refused(wish), status::bad_attribute_id_invalid);
    wish = watch(level);
    wish.range = "3:1";
    EXPECT_EQ(refused(wish), status::bad_index_range_invalid);
    wish = watch(level);
    wish.mode = 3;
    EXPECT_EQ(refused(wish), status::bad_monitoring_mode_invalid);
    EXPECT_EQ(site.host->statistics().monitored_items, 0U);
    client.monitor({});
    EXPECT_EQ(client.result, status::bad_nothing_to_do);
    client.monitor({watch(level)}, 4);
    EXPECT_EQ(client.result, status::bad_timestamps_to_return_invalid);
    client.monitor({watch(level)}, 2, client.subscription + 1);
    EXPECT_EQ(client.result, status::bad_subscription_id_invalid);
    client.set_mode(3, {1});
    EXPECT_EQ(client.result, status::bad_monitoring_mode_invalid);
}

TEST_F(monitored_items, limits_hold_for_a_subscription_a_call_and_the_server) {
    limits few;
    few.max_monitored_items = 3;
    few.max_monitored_items_per_subscription = 2;
    few.max_monitored_items_per_call = 3;
    plant small{few};
    subscriber one{small};
    one.create();
    const auto made = one.monitor({watch(level), watch(level), watch(level)});
    EXPECT_EQ(made[1].result, status::good);
    EXPECT_EQ(made[2].result, status::bad_too_many_monitored_items);
    one.create();
    EXPECT_EQ(one.monitor({watch(level), watch(level)})[1].result,
              status::bad_too_many_monitored_items);
    one.monitor({watch(level), watch(level), watch(level), watch(level)});
    EXPECT_EQ(one.result, status::bad_too_many_operations);
}

TEST_F(monitored_items, the_timestamps_asked_for_are_returned) {
    for (std::uint32_t asked = 0; asked < 4; ++asked) {
        const auto made = client.monitor({watch(level), watch(level, 2, 5)}, asked);
        const published seen = cycle();
        ASSERT_EQ(seen.items.size(), 2U);
        for (const notification& each : seen.items) {
            EXPECT_EQ(each.source_ticks != 0, asked == 0 || asked == 2);
            EXPECT_EQ(each.server_ticks != 0, asked == 1 || asked == 2);
        }
        client.remove_items({made[0].id, made[1].id});
    }
}

TEST_F(monitored_items, edge_E53_sampling_slower_than_publishing_is_kept_to_without_a_queue) {
    client.create(100, 100, 1000);
    item_wish wish = watch(level);
    wish.sampling_ms = 500;
    client.monitor_one(wish);
    std::vector<std::int64_t> times;
    for (const published& each : [&] {
             std::vector<published> out;
             for (int count = 0; count < 20; ++count) {
                 deliver(static_cast<float>(count));
                 client.publish();
                 const published one = client.after(100);
                 if (!one.items.empty()) {
                     out.push_back(one);
                 }
             }
             return out;
         }()) {
        EXPECT_EQ(each.items.size(), 1U);
        times.push_back(each.items[0].server_ticks);
    }
    EXPECT_GE(times.size(), 4U);
    EXPECT_LE(times.size(), 5U);
}

TEST_F(monitored_items, edge_E53_sampling_intervals_of_any_kind_are_revised) {
    const double nan = std::nan("");
    const std::vector<std::pair<double, double>> cases = {
        {0, 100}, {-1, 1000}, {-7, 1000}, {nan, 1000},
        {1, 100}, {149, 100}, {151, 200}, {1e300, 86'400'000}};
    for (const auto& [asked, revised] : cases) {
        item_wish wish = watch(level);
        wish.sampling_ms = asked;
        const made_item made = client.monitor({wish})[0];
        EXPECT_EQ(made.sampling_ms, revised) << asked;
        EXPECT_EQ(client.modify_item(made.id, wish).sampling_ms, revised);
    }
}

TEST_F(monitored_items, monitoring_modes_change_in_all_nine_ways) {
    for (const std::uint32_t queue_size : {1U, 10U}) {
        for (std::uint32_t from = 0; from < 3; ++from) {
            for (std::uint32_t to = 0; to < 3; ++to) {
                item_wish wish = watch(level, 1, queue_size);
                wish.mode = from;
                const std::uint32_t item = client.monitor_one(wish);
                EXPECT_EQ(client.set_mode(to, {item}), codes{status::good});
                deliver(static_cast<float>(10 * from + to));
                EXPECT_EQ(cycle().items.empty(), to != 2) << from << " to " << to;
                client.remove_items({item});
            }
        }
    }
    EXPECT_EQ(site.gateway.watched(), 0U);
}

TEST_F(monitored_items, a_disabled_item_forgets_its_queue_and_begins_anew) {
    const std::uint32_t item = client.monitor_one(watch(level, 1, 10));
    deliver(1);
    client.set_mode(0, {item});
    EXPECT_TRUE(cycle().items.empty());
    deliver(2);
    client.set_mode(2, {item});
    EXPECT_EQ(reported(), floats{2});
}

TEST_F(monitored_items, what_was_sampled_is_reported_once_reporting_is_on) {
    item_wish wish = watch(level, 1, 10);
    wish.mode = 1;
    const std::uint32_t item = client.monitor_one(wish);
    deliver(1);
    EXPECT_TRUE(cycle().items.empty());
    client.set_mode(2, {item});
    EXPECT_EQ(reported(), (floats{42.5F, 1}));
}

TEST_F(monitored_items, modify_changes_handle_and_timestamps_of_what_is_queued) {
    const std::uint32_t item = client.monitor_one(watch(level, 1, 10));
    deliver(1);
    ASSERT_EQ(client.modify_item(item, watch(level, 99, 10), 3).result, status::good);
    const published seen = cycle();
    ASSERT_EQ(seen.items.size(), 2U);
    EXPECT_EQ(seen.items[0].client_handle, 99U);
    EXPECT_EQ(seen.items[0].source_ticks, 0);
}

TEST_F(monitored_items, an_index_range_reports_changes_of_its_part_only) {
    item_wish wish = watch("press/array");
    wish.range = "1:2";
    client.monitor_one(wish);
    const published first = cycle();
    ASSERT_EQ(first.items.size(), 1U);
    EXPECT_EQ(first.items[0].length, 2);
    EXPECT_EQ(first.items[0].as<std::int16_t>(), 10);
    const auto array = [](std::int16_t second, std::int16_t last) {
        bytes out;
        for (const std::int16_t each :
             {std::int16_t{0}, second, std::int16_t{20}, std::int16_t{30}, last}) {
            append(out, slot_of(each));
        }
        return out;
    };
    site.gateway.deliver("press/array", array(10, 77));
    EXPECT_TRUE(cycle().items.empty());
    site.gateway.deliver("press/array", array(11, 77));
    EXPECT_EQ(cycle().items.at(0).as<std::int16_t>(), 11);
}

TEST_F(monitored_items, a_range_outside_the_array_is_told_in_the_notification) {
    item_wish wish = watch("press/array");
    wish.range = "7:9";
    ASSERT_EQ(client.monitor({wish})[0].result, status::good);
    EXPECT_EQ(cycle().items.at(0).status, status::bad_index_range_no_data);
}

TEST_F(monitored_items, other_attributes_report_their_value_once_without_source_time) {
    item_wish wish = watch(level);
    wish.attribute_id = 4;
    client.monitor_one(wish);
    const published first = cycle();
    ASSERT_EQ(first.items.size(), 1U);
    EXPECT_EQ(first.items[0].type, builtin_type::localized_text);
    EXPECT_EQ(first.items[0].source_ticks, 0);
    deliver(1);
    EXPECT_TRUE(cycle().items.empty());
}

TEST_F(monitored_items, values_of_the_server_that_live_are_sampled) {
    client.create(500, 100, 1000);
    client.monitor_one(watch("#2258", 1, 10));
    client.monitor_one(watch("#2259", 2));
    client.publish();
    const published first = client.after(500);
    std::size_t times = 0;
    std::size_t states = 0;
    for (const notification& each : first.items) {
        times += each.client_handle == 1 ? 1U : 0U;
        states += each.client_handle == 2 ? 1U : 0U;
    }
    EXPECT_GE(times, 4U) << "CurrentTime, every 100 ms and at the beginning";
    EXPECT_EQ(states, 1U) << "State, which does not change";
    std::size_t later = 0;
    for (const published& each : client.all_within(500)) {
        later += each.items.size();
    }
    EXPECT_GE(later, 4U);
}

TEST_F(monitored_items, a_value_that_comes_back_within_the_interval_is_reported) {
    client.monitor_one(watch(level));
    cycle();
    deliver(1);
    deliver(42.5F);
    EXPECT_EQ(reported(), floats{42.5F});
}

TEST_F(monitored_items, a_tag_that_never_delivered_says_that_it_waits) {
    site.gateway.add_tag("press/new", builtin_type::float32, {}).status =
        status::bad_waiting_for_initial_data;
    client.monitor_one(watch("press/new"));
    client.monitor_one(watch("press/new", 2, 10));
    const published first = cycle();
    EXPECT_EQ(statuses(first),
              (codes{status::bad_waiting_for_initial_data, status::bad_waiting_for_initial_data}));
    site.gateway.deliver("press/new", slot_of(5.0F));
    EXPECT_EQ(reported(), (floats{5, 5}));
}

TEST_F(monitored_items, edge_E40_a_tag_that_is_gone_is_told_once_and_the_item_survives) {
    const std::uint32_t direct = client.monitor_one(watch(level, 1));
    client.monitor_one(watch(level, 2, 10));
    cycle();
    site.gateway.remove_tag(level);
    EXPECT_EQ(statuses(cycle()), (codes{status::bad_node_id_unknown, status::bad_node_id_unknown}));
    EXPECT_TRUE(cycle().items.empty());
    EXPECT_EQ(client.set_mode(1, {direct}), codes{status::good});
}

TEST_F(monitored_items, edge_E55_a_resend_gives_every_reporting_item_in_several_messages) {
    subscriber other{site};
    client.create(100, 10, 100, 2);
    const std::uint32_t which = client.subscription;
    std::vector<item_wish> all;
    for (std::uint32_t handle = 0; handle < 5; ++handle) {
        all.push_back(watch(level, handle, handle % 2 == 0 ? 1 : 10));
    }
    all[4].mode = 1;
    client.monitor(all);
    client.all_within(200);
    EXPECT_EQ(other.transfer({which}, true), codes{status::good});
    std::size_t items = 0;
    for (const published& each : other.all_within(100, 4)) {
        EXPECT_LE(each.items.size(), 2U);
        items += each.items.size();
    }
    EXPECT_EQ(items, 4U);
}

TEST_F(monitored_items, edge_E56_a_bad_value_has_its_timestamps) {
    client.monitor({watch(level, 1), watch(level, 2, 10)});
    cycle();
    site.gateway.deliver_status(level, status::bad_no_communication);
    const published seen = cycle();
    ASSERT_EQ(seen.items.size(), 2U);
    for (const notification& each : seen.items) {
        EXPECT_EQ(each.status, status::bad_no_communication);
        EXPECT_FALSE(each.has_value);
        EXPECT_NE(each.server_ticks, 0);
        EXPECT_NE(each.source_ticks, 0);
    }
}

TEST_F(monitored_items, edge_E58_an_unchanged_value_is_not_repeated) {
    client.monitor({watch(level, 1), watch(level, 2, 10)});
    cycle();
    for (int count = 0; count < 5; ++count) {
        deliver(42.5F, false);
    }
    EXPECT_TRUE(cycle().items.empty());
}

}  // namespace
}  // namespace tagferry::opcua
