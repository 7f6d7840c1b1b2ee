// Requests of the OPC UA server in steady state take nothing from the heap: receive, answer, queue.
#include "protocols/opcua/server/server.hpp"
#include "protocols/opcua/services/service.hpp"
#include "tests/allocation/allocation_gate.hpp"
#include "tests/support/opcua/bulk_plant.hpp"
#include "tests/support/opcua/steady_client.hpp"

#include <gtest/gtest.h>

namespace tagferry::allocation {
namespace {

using namespace opcua::test;

constexpr int warm_up = 1'000;
constexpr int measured = 10'000;

struct opcua_gate : ::testing::Test {
    opcua_gate() {
        for (int count = 0; count < 100; ++count) {
            site.gateway.add_tag("bulk/t" + std::to_string(count), opcua::builtin_type::float32,
                                 slot_of(static_cast<float>(count)));
        }
    }

    void expect_no_allocation(steady_client& client, const bytes& request, std::size_t copies = 1) {
        client.repeat(request, copies);
        for (int count = 0; count < warm_up; ++count) {
            ASSERT_GT(client.send(site.time.now()), 0U);
        }
        const window counted(outer_);
        for (int count = 0; count < measured; ++count) {
            client.send(site.time.now());
        }
        const auto result = counted.close();
        EXPECT_EQ(result.allocations, 0U);
        EXPECT_TRUE(result.outer_agrees);
    }

    static std::uint64_t reads() {
        return transport::operation_totals_now()[opcua::opcua_read.index()].operations;
    }

    static std::uint64_t writes() {
        return transport::operation_totals_now()[opcua::opcua_write.index()].operations;
    }

    std::vector<std::string> bulk() const {
        std::vector<std::string> out;
        for (int count = 0; count < 100; ++count) {
            out.push_back("bulk/t" + std::to_string(count));
        }
        return out;
    }

    outer_counter outer_;
    plant site{};
};

TEST_F(opcua_gate, counting_is_on) {
    EXPECT_TRUE(transport::allocation_counting_enabled());
}

TEST_F(opcua_gate, read_of_one_value) {
    steady_client client{site};
    const std::uint64_t before = reads();
    expect_no_allocation(client, client.client().read_request({"press/tank/level"}));
    EXPECT_EQ(reads() - before, static_cast<std::uint64_t>(warm_up + measured));
}

TEST_F(opcua_gate, reads_pipelined) {
    steady_client client{site};
    expect_no_allocation(client, client.client().read_request({"press/tank/level"}), 8);
}

TEST_F(opcua_gate, read_of_a_hundred_values) {
    steady_client client{site};
    expect_no_allocation(client, client.client().read_request(bulk()));
}

TEST_F(opcua_gate, read_of_attributes_live_values_and_errors) {
    steady_client client{site};
    expect_no_allocation(client, client.client().read_request(
                                     {"#2256", "#2258", "#2255", "press/array", "nobody", "#0"}));
    expect_no_allocation(client, client.client().read_request({"press/tank/level"}, 1'000, 4));
    expect_no_allocation(client,
                         client.client().read_request({"press/array"}, 1'000, 13, 2, "1:2"));
}

// A write is answered when its device has, so the gate plays the device between the two.
TEST_F(opcua_gate, write_of_one_value_and_of_a_hundred) {
    site.gateway.rules.allow_anonymous_write = true;
    for (const std::string& path : bulk()) {
        site.gateway.tag_at(path).writable = true;
    }
    for (const std::size_t items : {1U, 100U}) {
        steady_client client{site};
        client.repeat(
            client.client().request(opcua::id::write_request_binary, [&](opcua::encoder& out) {
                out.u32(static_cast<std::uint32_t>(items));
                for (std::size_t at = 0; at < items; ++at) {
                    raw_client::write_id(out, bulk()[at]);
                    out.u32(13);
                    out.string({});
                    out.u8(1);
                    out.variant_head(opcua::builtin_type::float32);
                    out.write(static_cast<float>(at));
                }
            }));
        const std::uint64_t before = writes();
        const auto turn = [&] {
            client.send(site.time.now());
            const auto waiting = site.gateway.pending_writes.front();
            site.gateway.pending_writes.clear();
            std::fill(waiting.outcomes.begin(), waiting.outcomes.end(), opcua::status::good);
            waiting.sink->resume(waiting.token, 0, site.time.now());
            return client.take_answers(site.time.now());
        };
        for (int count = 0; count < warm_up; ++count) {
            ASSERT_GT(turn(), 0U);
        }
        const window counted(outer_);
        for (int count = 0; count < measured; ++count) {
            turn();
        }
        const auto result = counted.close();
        EXPECT_EQ(result.allocations, 0U);
        EXPECT_TRUE(result.outer_agrees);
        EXPECT_EQ(writes() - before, static_cast<std::uint64_t>(warm_up + measured));
    }
}

TEST_F(opcua_gate, browse) {
    steady_client client{site};
    expect_no_allocation(
        client, client.client().request(opcua::id::browse_request_binary, [](opcua::encoder& out) {
            out.numeric_id(0, 0);
            out.i64(0);
            out.u32(0);
            out.u32(0);
            out.u32(2);
            for (const char* node : {"#85", "press"}) {
                raw_client::write_id(out, node);
                out.u32(0);
                out.numeric_id(0, opcua::id::hierarchical_references);
                out.boolean(true);
                out.u32(0);
                out.u32(63);
            }
        }));
}

TEST_F(opcua_gate, faults) {
    steady_client client{site};
    expect_no_allocation(client, client.client().read_request({}));
    expect_no_allocation(client, client.client().request(9'999, [](opcua::encoder&) {}));
}

// Ten subscriptions, each message acknowledged by the next Publish.
void expect_no_allocation_in_publishing(const outer_counter& outer, const item_wish& like) {
    bulk_plant site{10, 10, like};
    const auto messages = [] {
        return transport::operation_totals_now()[opcua::opcua_publish.index()].operations;
    };
    for (int count = 0; count < warm_up / 10; ++count) {
        ASSERT_EQ(site.round(), 10U);
    }
    const std::uint64_t before = messages();
    const window counted(outer);
    for (int count = 0; count < measured / 10; ++count) {
        site.round();
    }
    const auto result = counted.close();
    EXPECT_EQ(result.allocations, 0U);
    EXPECT_TRUE(result.outer_agrees);
    EXPECT_EQ(messages() - before, static_cast<std::uint64_t>(measured));
}

TEST_F(opcua_gate, notifications_of_latest_values) {
    expect_no_allocation_in_publishing(outer_, {});
}

TEST_F(opcua_gate, notifications_of_queues) {
    item_wish like;
    like.queue_size = 10;
    expect_no_allocation_in_publishing(outer_, like);
}

TEST_F(opcua_gate, notifications_through_a_deadband) {
    item_wish like;
    like.filter = {1, 1};
    like.deadband = 0.5;
    expect_no_allocation_in_publishing(outer_, like);
}

}  // namespace
}  // namespace tagferry::allocation
