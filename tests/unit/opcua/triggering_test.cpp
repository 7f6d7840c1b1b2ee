// SetTriggering (Part 4 §5.13.5): items that report when another one triggers.
#include "tests/support/opcua/monitored_items.hpp"

#include <gtest/gtest.h>

namespace tagferry::opcua {
namespace {

using namespace test;

struct triggering : monitored_items {
    triggering() {
        site.gateway.add_tag("press/trigger", builtin_type::int32, slot_of(0));
        item_wish linked = watch(level, 2, 10);
        linked.mode = 1;
        const auto made = client.monitor({watch("press/trigger", 1), linked});
        trigger = made[0].id;
        target = made[1].id;
    }
    void pull() {
        site.gateway.deliver("press/trigger", slot_of(++pulled));
        site.gateway.run_turns(site.time.now());
    }
    std::size_t reported_by(std::uint32_t handle) {
        std::size_t count = 0;
        for (const notification& each : cycle().items) {
            count += each.client_handle == handle ? 1U : 0U;
        }
        return count;
    }
    std::uint32_t trigger = 0;
    std::uint32_t target = 0;
    std::int32_t pulled = 0;
};

TEST_F(triggering, a_linked_item_reports_what_it_sampled_when_the_other_one_triggers) {
    EXPECT_EQ(client.trigger(trigger, {target}, {}).first, codes{status::good});
    deliver(1);
    cycle();
    deliver(2);
    EXPECT_EQ(reported_by(2), 0U) << "not before it is triggered";
    pull();
    EXPECT_EQ(reported_by(2), 3U);
    pull();
    EXPECT_EQ(reported_by(2), 0U) << "nothing new";
}

TEST_F(triggering, requests_are_checked) {
    client.trigger(trigger, {}, {});
    EXPECT_EQ(client.result, status::bad_nothing_to_do);
    client.trigger(trigger + 7, {target}, {});
    EXPECT_EQ(client.result, status::bad_monitored_item_id_invalid);
    const auto mixed = client.trigger(trigger, {target, 4711}, {target});
    EXPECT_EQ(mixed.first, (codes{status::good, status::bad_monitored_item_id_invalid}));
    EXPECT_EQ(mixed.second, codes{status::bad_monitored_item_id_invalid}) << "no link yet";
    const auto both = client.trigger(trigger, {target}, {target});
    EXPECT_EQ(both.first, codes{status::good});
    EXPECT_EQ(both.second, codes{status::good});
    deliver(1);
    pull();
    EXPECT_GT(reported_by(2), 0U) << "removed first, then added: it ends linked";
    const std::uint32_t own = client.subscription;
    client.subscription = own + 1;
    client.trigger(trigger, {target}, {});
    EXPECT_EQ(client.result, status::bad_subscription_id_invalid);
}

TEST_F(triggering, links_in_a_circle_do_not_loop) {
    client.set_mode(1, {trigger});
    client.trigger(trigger, {target}, {});
    client.trigger(target, {trigger}, {});
    deliver(1);
    pull();
    const published seen = cycle();
    EXPECT_FALSE(seen.items.empty());
    EXPECT_TRUE(cycle().items.empty());
}

TEST_F(triggering, a_disabled_triggering_item_triggers_nothing) {
    client.trigger(trigger, {target}, {});
    cycle();
    client.set_mode(0, {trigger});
    deliver(1);
    pull();
    EXPECT_EQ(reported_by(2), 0U);
}

TEST_F(triggering, a_deleted_item_takes_its_links_with_it) {
    client.trigger(trigger, {target}, {});
    client.remove_items({target});
    EXPECT_EQ(client.trigger(trigger, {}, {target}).second,
              codes{status::bad_monitored_item_id_invalid});
    pull();
    EXPECT_FALSE(cycle().items.empty());
    client.remove_items({trigger});
}

TEST_F(triggering, links_are_limited) {
    limits few;
    few.max_triggering_links = 1;
    plant small{few};
    subscriber one{small};
    one.create();
    const auto made = one.monitor({watch(level), watch(level), watch(level)});
    EXPECT_EQ(one.trigger(made[0].id, {made[1].id, made[2].id}, {}).first,
              (codes{status::good, status::bad_resource_unavailable}));
}

}  // namespace
}  // namespace tagferry::opcua
