#include "gateway/model/value_type.hpp"

#include "tests/support/gateway/value_types.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tagferry::gateway {
namespace {

using test::of;

TEST(value_type, sizes_follow_the_slot_form) {
    EXPECT_EQ(value_size(of(data_type::boolean)), 1u);
    EXPECT_EQ(value_size(of(data_type::boolean, 9)), 9u);
    EXPECT_EQ(value_size(of(data_type::int16, 10)), 20u);
    EXPECT_EQ(value_size(of(data_type::float64)), 8u);
    EXPECT_EQ(value_size(of(data_type::date_time)), 8u);
    EXPECT_EQ(value_size(of(data_type::string, -1, 762)), 764u);
    EXPECT_EQ(value_size(of(data_type::string, 3, 5)), 3u * 8u);
}

TEST(value_type, a_structure_aligns_its_members) {
    value_type structure = of(data_type::structure);
    structure.layout = std::make_shared<const struct_layout>(std::vector<struct_layout::member>{
        {"on", of(data_type::boolean), 0},
        {"speed", of(data_type::float64), 0},
        {"count", of(data_type::int16, 3), 0},
        {"name", of(data_type::string, -1, 5), 0},
    });
    const auto& members = structure.layout->members();
    EXPECT_EQ(members[0].offset, 0u);
    EXPECT_EQ(members[1].offset, 8u);
    EXPECT_EQ(members[2].offset, 16u);
    EXPECT_EQ(members[3].offset, 22u);
    EXPECT_EQ(structure.layout->size(), 32u);
    EXPECT_EQ(alignment_of(structure), 8u);
    EXPECT_TRUE(may_need_substitute(structure));
    EXPECT_FALSE(may_need_substitute(of(data_type::float32)));
}

TEST(value_type, views_reach_members_and_elements) {
    value_type inner = of(data_type::structure, 2);
    inner.layout = std::make_shared<const struct_layout>(std::vector<struct_layout::member>{
        {"a", of(data_type::int32), 0}, {"b", of(data_type::int16, 4), 0}});
    const value_view whole{0, inner};
    value_view element;
    ASSERT_TRUE(element_view(whole, 1, element));
    EXPECT_EQ(element.offset, 12u);
    value_view member;
    ASSERT_TRUE(member_view(element, "b", member));
    EXPECT_EQ(member.offset, 16u);
    value_view third;
    ASSERT_TRUE(element_view(member, 3, third));
    EXPECT_EQ(third.offset, 22u);
    EXPECT_EQ(third.type, of(data_type::int16));
    EXPECT_FALSE(element_view(whole, 2, element));
    EXPECT_FALSE(element_view(third, 0, element));
    EXPECT_FALSE(member_view(whole, "a", member)) << "an array has no members";
    EXPECT_FALSE(member_view(value_view{12, element.type}, "c", member));
}

TEST(value_type, a_structure_needs_members_with_names_of_their_own) {
    EXPECT_THROW(struct_layout({}), std::invalid_argument);
    EXPECT_THROW(struct_layout({{"a", of(data_type::int8), 0}, {"a", of(data_type::int8), 0}}),
                 std::invalid_argument);
}

TEST(value_type, structures_compare_by_what_they_hold) {
    const auto make = [](const char* name) {
        value_type type;
        type.element = data_type::structure;
        type.layout = std::make_shared<const struct_layout>(
            std::vector<struct_layout::member>{{name, value_type{}, 0}});
        return type;
    };
    EXPECT_EQ(make("a"), make("a"));
    EXPECT_FALSE(make("a") == make("b"));
}

}  // namespace
}  // namespace tagferry::gateway
