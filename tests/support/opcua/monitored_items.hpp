// A subscription with a long publishing interval, for tests of what its items sample meanwhile.
#pragma once

#include "tests/support/opcua/subscriber.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tagferry::opcua::test {

using codes = std::vector<status_code>;
using floats = std::vector<float>;

inline constexpr const char* level = "press/tank/level";
inline constexpr status_code overflow = 0x480;

inline item_wish watch(std::string node, std::uint32_t handle = 1, std::uint32_t queue_size = 1) {
    item_wish wish;
    wish.node = std::move(node);
    wish.client_handle = handle;
    wish.queue_size = queue_size;
    return wish;
}

inline item_wish with_deadband(double deadband, std::uint32_t trigger = 1,
                               std::uint32_t queue_size = 1) {
    item_wish wish = watch(level, 1, queue_size);
    wish.filter = {trigger, 1};
    wish.deadband = deadband;
    return wish;
}

struct monitored_items : ::testing::Test {
    monitored_items() { client.create(1000, 100, 1000); }

    void deliver(float value, bool changed = true) {
        site.gateway.deliver(level, slot_of(value), changed);
        site.gateway.run_turns(site.time.now());
    }
    /// What the next publishing interval brings.
    published cycle() {
        client.publish();
        return client.after(1000);
    }
    floats reported() { return cycle().values<float>(); }
    std::vector<status_code> statuses(const published& from) {
        std::vector<status_code> out;
        for (const notification& each : from.items) {
            out.push_back(each.status);
        }
        return out;
    }
    status_code refused(const item_wish& wish) { return client.monitor({wish}).at(0).result; }

    plant site{};
    subscriber client{site};
};

}  // namespace tagferry::opcua::test
