#include "transport/engine.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tagferry::transport {
namespace {

TEST(send_batch, takes_messages_up_to_its_limit) {
    const std::vector<std::byte> message(10);
    send_batch batch{2};
    EXPECT_TRUE(batch.add(message));
    EXPECT_TRUE(batch.add(message));
    EXPECT_FALSE(batch.add(message));
    EXPECT_EQ(batch.bytes(), 20u);
    EXPECT_EQ(batch.message_sizes().size(), 2u);
}

TEST(send_batch, message_over_the_byte_cap_goes_alone) {
    const std::vector<std::byte> small(1);
    const std::vector<std::byte> large(send_batch::max_bytes + 1);
    send_batch batch;
    EXPECT_TRUE(batch.add(large));
    EXPECT_FALSE(batch.add(small));
    send_batch other;
    EXPECT_TRUE(other.add(small));
    EXPECT_FALSE(other.add(large));
}

TEST(send_batch, refuses_more_segments_than_one_write_takes) {
    const std::byte one{};
    const std::vector<std::span<const std::byte>> segments(send_batch::max_segments, {&one, 1});
    send_batch batch;
    EXPECT_TRUE(batch.add(segments));
    EXPECT_FALSE(batch.add(std::span<const std::byte>{&one, 1}));
}

}  // namespace
}  // namespace tagferry::transport
