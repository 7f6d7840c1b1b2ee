#include "transport/time/deadline_sweep.hpp"

#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;

struct member final : sweep_participant {
    time_point at = time_point::max();
    std::function<void(member&)> act;
    int looked = 0;
    int expired = 0;

    // Counting looks is the test's business, so the const of the interface is taken off.
    time_point deadline() const noexcept override {
        ++const_cast<member*>(this)->looked;  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        return at;
    }
    void expire(time_point) override {
        ++expired;
        if (act) {
            act(*this);
        }
    }
};

class deadline_sweep_test : public testing::Test {
  protected:
    bool sweep_once() {
        turn_budget budget(clock, clock.now());
        return sweep.run(clock.now(), budget);
    }
    manual_clock clock;
    deadline_sweep sweep;
};

TEST_F(deadline_sweep_test, expires_what_is_due_and_nothing_else) {
    member due;
    member later;
    member never;
    due.at = clock.now();
    later.at = clock.now() + 1ns;
    for (member* each : {&due, &later, &never}) {
        sweep.add(*each);
        sweep.add(*each);
    }
    EXPECT_TRUE(sweep_once());
    EXPECT_EQ(due.expired, 1);
    EXPECT_EQ(later.expired, 0);
    EXPECT_TRUE(sweep_once());
    EXPECT_EQ(due.expired, 2);
    EXPECT_EQ(never.looked, 2);
}

TEST_F(deadline_sweep_test, removal_by_call_and_by_destruction) {
    member kept;
    sweep.add(kept);
    {
        member gone;
        sweep.add(gone);
    }
    sweep.remove(kept);
    sweep.remove(kept);
    EXPECT_TRUE(sweep.empty());
}

TEST_F(deadline_sweep_test, inside_expire_any_member_may_go) {
    std::vector<std::unique_ptr<member>> members;
    for (int i = 0; i < 5; ++i) {
        members.push_back(std::make_unique<member>());
        members.back()->at = clock.now();
        sweep.add(*members.back());
    }
    // The third destroys its neighbours on both sides and itself.
    members[2]->act = [&](member&) {
        members[1].reset();
        members[3].reset();
        members[2].reset();
    };
    EXPECT_TRUE(sweep_once());
    EXPECT_EQ(members[0]->expired, 1);
    EXPECT_EQ(members[4]->expired, 1);
    EXPECT_TRUE(sweep_once());
    EXPECT_EQ(members[4]->expired, 2);
}

TEST_F(deadline_sweep_test, one_that_leaves_and_joins_in_expire_is_expired_once_a_sweep) {
    member rejoining;
    rejoining.at = clock.now();
    rejoining.act = [&](member& self) {
        sweep.remove(self);
        sweep.add(self);
    };
    sweep.add(rejoining);
    EXPECT_TRUE(sweep_once());
    EXPECT_EQ(rejoining.expired, 1);
    EXPECT_TRUE(sweep_once());
    EXPECT_EQ(rejoining.expired, 2);
}

TEST_F(deadline_sweep_test, a_big_sweep_goes_on_where_its_budget_ended) {
    std::vector<member> members(3 * turn_item_limit);
    for (member& each : members) {
        each.at = clock.now();
        sweep.add(each);
    }
    int calls = 1;
    while (!sweep_once()) {
        ++calls;
    }
    EXPECT_EQ(calls, 3);
    for (const member& each : members) {
        EXPECT_EQ(each.expired, 1);
    }
    member late;
    late.at = clock.now();
    sweep.add(late);
    while (!sweep_once()) {
    }
    EXPECT_EQ(late.expired, 1);
}

}  // namespace
}  // namespace tagferry::transport
