// Queues and filters of monitored items (Part 4 §5.13.1.5, §7.22.2).
#include "tests/support/opcua/monitored_items.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tagferry::opcua {
namespace {

using namespace test;

TEST_F(monitored_items, every_sample_of_a_queue_is_reported_in_order) {
    client.monitor_one(watch(level, 1, 10));
    for (const float value : {1.0F, 2.0F, 3.0F, 2.0F}) {
        deliver(value);
    }
    EXPECT_EQ(reported(), (floats{42.5F, 1, 2, 3, 2}));
    deliver(4);
    deliver(5);
    EXPECT_EQ(reported(), (floats{4, 5}));
}

TEST_F(monitored_items, a_queue_of_one_reports_the_latest_value) {
    client.monitor_one(watch(level));
    deliver(1);
    deliver(2);
    EXPECT_EQ(reported(), floats{2});
    EXPECT_TRUE(cycle().items.empty());
}

TEST_F(monitored_items, samples_older_than_the_initial_value_are_not_reported) {
    client.monitor_one(watch(level, 1, 10));
    site.gateway.deliver(level, slot_of(1.0F));
    site.gateway.deliver(level, slot_of(2.0F));  // both on their way when the second item is made
    client.monitor_one(watch(level, 2, 10));
    floats second;
    for (const notification& each : cycle().items) {
        if (each.client_handle == 2) {
            second.push_back(each.as<float>());
        }
    }
    EXPECT_EQ(second, floats{2});
}

TEST_F(monitored_items, a_slower_sampling_takes_every_so_many_samples) {
    item_wish wish = watch(level, 1, 100);
    wish.sampling_ms = 300;  // three scans
    EXPECT_EQ(client.monitor({wish})[0].sampling_ms, 300);
    for (int count = 1; count <= 9; ++count) {
        deliver(static_cast<float>(count));
    }
    EXPECT_EQ(reported(), (floats{42.5F, 3, 6, 9}));
}

TEST_F(monitored_items, modify_between_a_queue_and_none_loses_no_later_value) {
    const std::uint32_t item = client.monitor_one(watch(level, 1, 10));
    deliver(1);
    client.modify_item(item, watch(level, 1, 1));
    EXPECT_EQ(reported(), floats{1});
    client.modify_item(item, watch(level, 1, 10));
    EXPECT_TRUE(cycle().items.empty());
    deliver(2);
    deliver(3);
    EXPECT_EQ(reported(), (floats{2, 3}));
}

TEST_F(monitored_items, deadbands_are_refused_where_they_mean_nothing) {
    item_wish wish = with_deadband(1);
    wish.attribute_id = 4;
    EXPECT_EQ(refused(wish), status::bad_filter_not_allowed);
    wish = with_deadband(1);
    wish.node = "press/recipe/name";
    EXPECT_EQ(refused(wish), status::bad_filter_not_allowed);
    wish = with_deadband(10);
    wish.filter->second = 2;  // percent, and no EURange
    EXPECT_EQ(refused(wish), status::bad_filter_not_allowed);
    EXPECT_EQ(refused(with_deadband(-1)), status::bad_deadband_filter_invalid);
    EXPECT_EQ(refused(with_deadband(1, 3)), status::bad_monitored_item_filter_invalid);
    wish = with_deadband(1);
    wish.filter->second = 3;
    EXPECT_EQ(refused(wish), status::bad_deadband_filter_invalid);
}

TEST_F(monitored_items, filters_of_other_kinds_are_refused) {
    for (const auto& [filter, expected] :
         {std::pair{std::uint32_t{id::event_filter_binary},
                    status_code{status::bad_monitored_item_filter_unsupported}},
          std::pair{std::uint32_t{id::aggregate_filter_binary},
                    status_code{status::bad_monitored_item_filter_unsupported}},
          std::pair{std::uint32_t{id::build_info_binary},
                    status_code{status::bad_monitored_item_filter_invalid}}}) {
        const std::uint32_t type = filter;
        const bytes rest = client.ask(id::create_monitored_items_request_binary, [&](encoder& out) {
            out.u32(client.subscription);
            out.u32(2);
            out.u32(1);
            raw_client::write_id(out, level);
            out.u32(13);
            out.string({});
            out.qualified_name(0, {});
            out.u32(2);
            out.u32(1);
            out.float64(0);
            out.numeric_id(0, type);
            out.u8(1);
            out.i32(0);
            out.u32(1);
            out.boolean(true);
        });
        decoder in{rest, site.bounds};
        in.u32();
        EXPECT_EQ(in.u32(), expected);
    }
}

TEST_F(monitored_items, an_absolute_deadband_is_measured_from_the_value_reported_last) {
    client.monitor_one(with_deadband(2, 1, 10));
    for (const float value : {43.5F, 44.5F, 45.0F, 43.0F, 42.9F}) {
        deliver(value);
    }
    EXPECT_EQ(reported(), (floats{42.5F, 45.0F, 42.9F}));
}

TEST_F(monitored_items, a_deadband_holds_for_each_element_of_an_array) {
    item_wish wish = with_deadband(5, 1, 10);
    wish.node = "press/array";
    client.monitor_one(wish);
    cycle();
    const auto all = [&](std::int16_t last) {
        bytes out;
        for (const std::int16_t each :
             {std::int16_t{0}, std::int16_t{10}, std::int16_t{20}, std::int16_t{30}, last}) {
            append(out, slot_of(each));
        }
        return out;
    };
    site.gateway.deliver("press/array", all(45));
    site.gateway.deliver("press/array", all(46));
    EXPECT_EQ(cycle().items.size(), 1U);
}

TEST_F(monitored_items, a_status_trigger_reports_changes_of_status_only) {
    item_wish wish = watch(level, 1, 10);
    wish.filter = {0, 0};
    client.monitor_one(wish);
    deliver(1);
    site.gateway.deliver_status(level, status::bad_no_communication);
    deliver(2);
    deliver(3);
    EXPECT_EQ(statuses(cycle()), (codes{status::good, status::bad_no_communication, status::good}));
}

TEST_F(monitored_items, a_timestamp_trigger_reports_every_sample) {
    item_wish wish = watch(level, 1, 10);
    wish.filter = {2, 0};
    client.monitor_one(wish);
    deliver(42.5F, false);
    deliver(42.5F, false);
    EXPECT_EQ(reported(), (floats{42.5F, 42.5F, 42.5F}));
}

TEST_F(monitored_items, out_of_memory_the_newest_values_are_kept_and_marked) {
    limits tight;
    tight.max_queue_bytes = 64 * 8;
    plant small{tight};
    subscriber one{small};
    one.create(1000, 100, 1000);
    one.monitor_one(watch(level, 1, 100));
    for (int count = 0; count < 20; ++count) {
        small.gateway.deliver(level, slot_of(static_cast<float>(count)));
    }
    one.publish();
    const published seen = one.after(1000);
    EXPECT_EQ(seen.items.size(), 8U);
    EXPECT_EQ(seen.items.back().as<float>(), 19);
    EXPECT_EQ(seen.items.back().status, overflow);
    EXPECT_GT(small.host->statistics().queue_overflows, 0U);
}

TEST_F(monitored_items, edge_E47_the_overflow_bit_is_on_the_value_next_to_what_is_missing) {
    item_wish oldest = watch(level, 1, 3);
    item_wish newest = watch(level, 2, 3);
    newest.discard_oldest = false;
    client.monitor({oldest, newest});
    cycle();
    for (int count = 1; count <= 5; ++count) {
        deliver(static_cast<float>(count));
    }
    floats kept_newest;
    floats kept_oldest;
    codes newest_bits;
    codes oldest_bits;
    for (const notification& each : cycle().items) {
        (each.client_handle == 1 ? kept_newest : kept_oldest).push_back(each.as<float>());
        (each.client_handle == 1 ? newest_bits : oldest_bits).push_back(each.status);
    }
    EXPECT_EQ(kept_newest, (floats{3, 4, 5}));
    EXPECT_EQ(newest_bits, (codes{overflow, 0, 0}));
    EXPECT_EQ(kept_oldest, (floats{1, 2, 5}));
    EXPECT_EQ(oldest_bits, (codes{0, 0, overflow}));
}

TEST_F(monitored_items, edge_E47_a_queue_of_one_never_overflows) {
    item_wish wish = with_deadband(0);
    client.monitor({watch(level), wish});
    for (int count = 1; count <= 5; ++count) {
        deliver(static_cast<float>(count));
    }
    EXPECT_EQ(statuses(cycle()), (codes{0, 0}));
    EXPECT_EQ(site.host->statistics().queue_overflows, 0U);
}

TEST_F(monitored_items, edge_E47_a_queue_made_smaller_discards_and_tells) {
    const std::uint32_t item = client.monitor_one(watch(level, 1, 10));
    for (int count = 1; count <= 5; ++count) {
        deliver(static_cast<float>(count));
    }
    client.modify_item(item, watch(level, 1, 2));
    const published seen = cycle();
    EXPECT_EQ(seen.values<float>(), (floats{4, 5}));
    EXPECT_EQ(statuses(seen), (codes{overflow, 0}));
    for (int count = 1; count <= 5; ++count) {
        deliver(static_cast<float>(count));
    }
    item_wish keeps_old = watch(level, 1, 10);
    keeps_old.discard_oldest = false;
    client.modify_item(item, keeps_old);
    for (int count = 6; count <= 9; ++count) {
        deliver(static_cast<float>(count));
    }
    keeps_old.queue_size = 3;
    client.modify_item(item, keeps_old);
    const published again = cycle();
    EXPECT_EQ(again.values<float>(), (floats{4, 5, 6}));
    EXPECT_EQ(statuses(again).back(), overflow);
}

TEST_F(monitored_items, edge_E49_a_change_of_status_passes_a_deadband) {
    client.monitor_one(with_deadband(1000, 1, 10));
    cycle();
    site.gateway.deliver_status(level, status::bad_no_communication);
    deliver(42.5F);
    deliver(43);
    EXPECT_EQ(statuses(cycle()), (codes{status::bad_no_communication, status::good}));
}

TEST_F(monitored_items, edge_E50_a_filter_without_a_deadband_is_allowed_anywhere) {
    item_wish wish = watch(level);
    wish.attribute_id = 4;
    wish.filter = {1, 0};
    EXPECT_EQ(refused(wish), status::good);
    wish = watch("press/recipe/name");
    wish.filter = {1, 0};
    EXPECT_EQ(refused(wish), status::good);
}

TEST_F(monitored_items, edge_E51_a_deadband_outweighs_the_timestamp_trigger) {
    client.monitor_one(with_deadband(2, 2, 10));
    deliver(43);
    deliver(43, false);
    deliver(45);
    EXPECT_EQ(reported(), (floats{42.5F, 45}));
}

TEST_F(monitored_items, edge_E52_no_number_is_one_change_and_no_deadband) {
    EXPECT_EQ(refused(with_deadband(std::nan(""))), status::bad_deadband_filter_invalid);
    EXPECT_EQ(refused(with_deadband(std::numeric_limits<double>::infinity())),
              status::bad_deadband_filter_invalid);
    client.monitor_one(with_deadband(0.5, 1, 10));
    cycle();
    const float nan = std::nanf("");
    for (const float value : {nan, nan, -nan, 42.5F}) {
        deliver(value);
    }
    const floats seen = reported();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_TRUE(std::isnan(seen[0]));
    EXPECT_EQ(seen[1], 42.5F);
}

}  // namespace
}  // namespace tagferry::opcua
