#include "transport/memory/generation_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tagferry::transport {
namespace {

TEST(generation_table, finds_what_was_taken_until_it_is_released) {
    generation_table<int> table(2);
    completion_token first;
    completion_token second;
    ASSERT_TRUE(table.take(first));
    ASSERT_TRUE(table.take(second));
    *table.find(first) = 1;
    *table.find(second) = 2;
    EXPECT_EQ(*table.find(first), 1);
    EXPECT_TRUE(table.release(first));
    EXPECT_EQ(table.find(first), nullptr);
    EXPECT_FALSE(table.release(first));
    EXPECT_EQ(*table.find(second), 2);
    EXPECT_EQ(table.size(), 1u);
}

TEST(generation_table, refuses_when_all_are_taken_and_leaves_the_token_alone) {
    generation_table<int> table(1);
    completion_token taken;
    ASSERT_TRUE(table.take(taken));
    completion_token refused{7, 8};
    EXPECT_FALSE(table.take(refused));
    EXPECT_EQ(refused, (completion_token{7, 8}));
}

TEST(generation_table, stale_name_never_finds_the_next_owner) {
    generation_table<int> table(1);
    completion_token old;
    ASSERT_TRUE(table.take(old));
    ASSERT_TRUE(table.release(old));
    for (int reuse = 0; reuse < 100; ++reuse) {
        completion_token current;
        ASSERT_TRUE(table.take(current));
        EXPECT_EQ(current.index, old.index);
        EXPECT_EQ(table.find(old), nullptr);
        EXPECT_FALSE(table.release(old));
        ASSERT_TRUE(table.release(current));
    }
}

TEST(generation_table, names_never_handed_out_find_nothing) {
    generation_table<int> table(2);
    EXPECT_EQ(table.find({}), nullptr);
    EXPECT_EQ(table.find({5, 1}), nullptr);
    completion_token taken;
    ASSERT_TRUE(table.take(taken));
    EXPECT_EQ(table.find({taken.index, taken.generation + 1}), nullptr);
    ASSERT_TRUE(table.release(taken));
    // The generation a free record has now is not a name either.
    EXPECT_EQ(table.find({taken.index, taken.generation + 1}), nullptr);
    EXPECT_FALSE(table.release({taken.index, taken.generation + 1}));
}

TEST(generation_table, visits_taken_records_which_may_be_released_meanwhile) {
    generation_table<int> table(5);
    std::vector<completion_token> tokens(5);
    for (int number = 0; number < 5; ++number) {
        ASSERT_TRUE(table.take(tokens[static_cast<std::size_t>(number)]));
        *table.find(tokens[static_cast<std::size_t>(number)]) = number;
    }
    ASSERT_TRUE(table.release(tokens[2]));
    int sum = 0;
    table.for_each([&](completion_token token, int& value) {
        sum += value;
        EXPECT_TRUE(table.release(token));
    });
    EXPECT_EQ(sum, 0 + 1 + 3 + 4);
    EXPECT_EQ(table.size(), 0u);
}

TEST(generation_table, refuses_a_capacity_out_of_range) {
    EXPECT_THROW(generation_table<int>{0}, std::invalid_argument);
    EXPECT_THROW(generation_table<char>{std::size_t{1} << 33U}, std::invalid_argument);
}

TEST(generation_table, agrees_with_a_plain_list_over_random_use) {
    generation_table<std::uint64_t> table(17);
    std::vector<std::pair<completion_token, std::uint64_t>> taken;
    std::vector<completion_token> stale;
    std::mt19937 random(1);
    for (std::uint64_t step = 0; step < 20000; ++step) {
        if (random() % 2 == 0) {
            completion_token token;
            ASSERT_EQ(table.take(token), taken.size() < 17);
            if (taken.size() < 17) {
                *table.find(token) = step;
                taken.emplace_back(token, step);
            }
        } else if (!taken.empty()) {
            const std::size_t chosen = random() % taken.size();
            ASSERT_EQ(*table.find(taken[chosen].first), taken[chosen].second);
            ASSERT_TRUE(table.release(taken[chosen].first));
            stale.push_back(taken[chosen].first);
            taken[chosen] = taken.back();
            taken.pop_back();
        }
        if (!stale.empty()) {
            ASSERT_EQ(table.find(stale[random() % stale.size()]), nullptr);
        }
        ASSERT_EQ(table.size(), taken.size());
    }
}

}  // namespace
}  // namespace tagferry::transport
