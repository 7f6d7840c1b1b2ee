// Where something stands in a text, whatever is asked for first.
#include "gateway/config/source_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tagferry::gateway::config {
namespace {

TEST(source_text, a_place_is_the_same_in_whatever_order_places_are_asked_for) {
    const std::string written =
        "{\"größe\": \"Ω\",\n\n \"ä\": 1, \"long\": \"" + std::string(200, 'x') + "öüß\"}\r\nend";
    const source_text asked(written, 1);
    std::mt19937 random(3);
    for (int i = 0; i < 5'000; ++i) {
        const std::size_t offset = random() % (written.size() + 3);
        const source_text fresh(written, 1);
        const location expected = fresh.location_of(offset);
        const location found = asked.location_of(offset);
        ASSERT_EQ(found.line, expected.line) << offset;
        ASSERT_EQ(found.column, expected.column) << offset;
    }
}

}  // namespace
}  // namespace tagferry::gateway::config
