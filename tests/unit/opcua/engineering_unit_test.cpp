#include "protocols/opcua/nodes/engineering_unit.hpp"

#include <gtest/gtest.h>

namespace tagferry::opcua::test {
namespace {

TEST(engineering_unit, names_of_the_field_are_found) {
    const auto number = [](std::string_view name) { return find_unit(name, "urn:own").number; };
    EXPECT_EQ(number("mm"), 5'066'068);
    EXPECT_EQ(number("°C"), 4'408'652);
    EXPECT_EQ(number("bar"), 4'342'098);
    EXPECT_EQ(number("m³/h"), 5'067'080);
    EXPECT_EQ(number("%"), number("% or pct"));
    for (const char* name : {"%", "1/min", "L", "Wh", "kWh", "m2", "m3", "rpm", "V", "A", "kg"}) {
        EXPECT_GT(number(name), 0) << name;
    }
}

TEST(engineering_unit, the_name_shown_is_the_one_configured) {
    const engineering_unit found = find_unit("%", "urn:own");
    EXPECT_EQ(found.display_name, "%");
    EXPECT_EQ(found.namespace_uri, unece_units_uri);
    EXPECT_FALSE(found.description.empty());
}

TEST(engineering_unit, another_name_is_a_unit_of_our_own_without_a_number) {
    for (const char* name : {"bottles", "zz", "", "\xFF"}) {
        const engineering_unit found = find_unit(name, "urn:own");
        EXPECT_EQ(found.number, -1);
        EXPECT_EQ(found.namespace_uri, "urn:own");
        EXPECT_EQ(found.display_name, name);
    }
}

}  // namespace
}  // namespace tagferry::opcua::test
