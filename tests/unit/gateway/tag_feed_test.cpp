#include "gateway/tags/tag_feed.hpp"

#include "gateway/tags/tag_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <set>
#include <vector>

namespace tagferry::gateway {
namespace {

std::vector<std::uint32_t> drained(dirty_bitmap& bits, std::size_t limit = 1'000'000) {
    std::vector<std::uint32_t> indexes;
    bits.drain(limit, [&](std::uint32_t index) { indexes.push_back(index); });
    return indexes;
}

TEST(dirty_bitmap, drains_what_was_marked_once) {
    dirty_bitmap bits{100'000};
    EXPECT_TRUE(bits.mark(0));
    EXPECT_FALSE(bits.mark(63));
    EXPECT_FALSE(bits.mark(64)) << "same summary word";
    EXPECT_TRUE(bits.mark(99'999));
    EXPECT_FALSE(bits.mark(0));
    EXPECT_EQ(drained(bits), (std::vector<std::uint32_t>{0, 63, 64, 99'999}));
    EXPECT_TRUE(drained(bits).empty());
    EXPECT_TRUE(bits.mark(0));
}

TEST(dirty_bitmap, a_pass_can_be_taken_in_steps) {
    dirty_bitmap bits{10'000};
    std::set<std::uint32_t> expected;
    std::mt19937 random{3};
    for (int i = 0; i < 3'000; ++i) {
        const auto index = static_cast<std::uint32_t>(random() % 10'000);
        bits.mark(index);
        expected.insert(index);
    }
    std::set<std::uint32_t> seen;
    for (;;) {
        const auto step = drained(bits, 7);
        seen.insert(step.begin(), step.end());
        if (step.size() < 7) {
            break;
        }
    }
    EXPECT_EQ(seen, expected);
}

TEST(dirty_bitmap, a_taken_bit_is_not_drained) {
    dirty_bitmap bits{128};
    bits.mark(5);
    bits.mark(70);
    EXPECT_TRUE(bits.take(5));
    EXPECT_FALSE(bits.take(5));
    EXPECT_EQ(drained(bits), (std::vector<std::uint32_t>{70}));
}

TEST(sample_ring, keeps_order_and_content_round_the_end) {
    sample_ring ring{4096};
    std::mt19937 random{5};
    std::deque<std::vector<std::byte>> expected;
    std::uint32_t pushed = 0;
    std::uint32_t shown = 0;
    while (shown < 5'000) {
        std::vector<std::byte> value(random() % 400);
        std::ranges::generate(value, [&] { return static_cast<std::byte>(random()); });
        queued_sample sample;
        sample.handle = {pushed, 1};
        sample.value = value;
        if (ring.push(sample)) {
            expected.push_back(value);
            ++pushed;
            if (random() % 4 != 0) {
                continue;
            }
        }
        ring.peek(1 + random() % 10, [&](const queued_sample& seen) {
            EXPECT_EQ(seen.handle.index, shown++);
            EXPECT_TRUE(std::ranges::equal(seen.value, expected.front()));
            expected.pop_front();
        });
        ring.release();
    }
}

TEST(sample_ring, refuses_when_full_and_when_too_long) {
    sample_ring ring{4096};
    const std::vector<std::byte> long_value(2'100);
    queued_sample sample;
    sample.value = long_value;
    EXPECT_FALSE(ring.push(sample));
    sample.value = {};
    std::size_t pushed = 0;
    while (ring.push(sample)) {
        ++pushed;
    }
    EXPECT_GT(pushed, 50u);
    EXPECT_EQ(ring.peek(1'000, [](const queued_sample&) {}), pushed);
    EXPECT_FALSE(ring.push(sample)) << "shown is not released";
    ring.release();
    EXPECT_TRUE(ring.push(sample));
}

TEST(sample_ring, uses_only_its_front_while_the_reader_keeps_up) {
    sample_ring ring{1024 * 1024};
    std::vector<std::byte> value(1'000);
    queued_sample sample;
    sample.value = value;
    std::set<const std::byte*> places;
    std::uint32_t pushed = 0;
    std::uint32_t shown = 0;
    const auto push = [&] {
        value[pushed % value.size()] = static_cast<std::byte>(pushed);
        sample.handle = {pushed++, 1};
        ASSERT_TRUE(ring.push(sample));
    };
    const auto read_all = [&] {
        ring.peek(1'000'000, [&](const queued_sample& seen) {
            EXPECT_EQ(seen.handle.index, shown);
            EXPECT_EQ(seen.value[shown % value.size()], static_cast<std::byte>(shown));
            places.insert(seen.value.data());
            ++shown;
        });
        ring.release();
    };
    while (pushed < 10'000) {
        push();
        push();
        push();
        read_all();
    }
    EXPECT_EQ(shown, pushed);
    EXPECT_LE(*places.rbegin() - *places.begin(), 70'000);
    // One that falls behind still has the whole ring.
    const std::uint32_t before = pushed;
    while (ring.push(sample)) {
        ++pushed;
    }
    EXPECT_GT(pushed - before, 900u);
}

class tag_feed_test : public testing::Test {
  protected:
    static tag_feed_options options(int* wakes, std::size_t ring_bytes) {
        tag_feed_options made;
        made.tags = 1'024;
        made.ring_bytes = ring_bytes;
        made.waker = {[](void* object) { ++*static_cast<int*>(object); }, wakes};
        return made;
    }
    static tag_table_limits limits() {
        tag_table_limits made;
        made.tags = 1'024;
        return made;
    }

    void SetUp() override {
        value_type type;
        type.element = data_type::int32;
        number_ = table_.add_feed(feed_).value();
        for (tag_handle& tag : tags_) {
            tag = table_.add(owner_, type).value();
        }
    }

    void publish(std::size_t tag, std::int32_t value) {
        ++time_;
        ASSERT_TRUE(writer_.publish(tags_[tag], status_code::good, reason_id::none, time_, time_,
                                    std::as_bytes(std::span(&value, 1))));
    }

    std::vector<std::uint32_t> changed() {
        std::vector<std::uint32_t> indexes;
        feed_.begin();
        feed_.drain_changed(1'000, [&](std::uint32_t index) { indexes.push_back(index); });
        return indexes;
    }

    int wakes_ = 0;
    transport::wall_time_ns time_ = 0;
    tag_feed feed_{options(&wakes_, 4096)};
    tag_table table_{limits()};
    tag_table::owner_id owner_ = table_.add_owner().value();
    tag_writer writer_{table_, owner_, 0};
    std::array<tag_handle, 4> tags_{};
    std::size_t number_ = 0;
};

TEST_F(tag_feed_test, reports_only_watched_tags_and_only_changes) {
    publish(0, 1);
    EXPECT_EQ(wakes_, 0);
    ASSERT_TRUE(table_.watch(tags_[1], number_, interest::changes));
    publish(0, 2);
    publish(1, 2);
    EXPECT_EQ(wakes_, 1);
    EXPECT_EQ(changed(), std::vector<std::uint32_t>{tags_[1].index});
    publish(1, 2);
    EXPECT_EQ(wakes_, 1) << "the same value again is no change";
    EXPECT_TRUE(changed().empty());
    writer_.publish_status(tags_[1], reason_id::link_down, 9, 9);
    EXPECT_EQ(changed(), std::vector<std::uint32_t>{tags_[1].index});
    publish(1, 2);
    EXPECT_EQ(changed(), std::vector<std::uint32_t>{tags_[1].index}) << "Good again";
    table_.unwatch(tags_[1], number_, interest::changes);
    publish(1, 3);
    EXPECT_TRUE(changed().empty());
}

TEST_F(tag_feed_test, updates_are_told_apart_from_changes) {
    publish(0, 1);
    table_.watch(tags_[0], number_, interest::updates);
    table_.watch(tags_[1], number_, interest::changes);
    publish(0, 1);
    publish(1, 1);
    std::vector<std::uint32_t> updated;
    feed_.begin();
    feed_.drain_updated(10, [&](std::uint32_t index) { updated.push_back(index); });
    EXPECT_EQ(updated, std::vector<std::uint32_t>{tags_[0].index});
    EXPECT_EQ(changed(), std::vector<std::uint32_t>{tags_[1].index});
}

TEST_F(tag_feed_test, of_numbers_published_together_each_is_told_like_one_alone) {
    for (std::size_t i = 0; i < tags_.size(); ++i) {
        publish(i, 1);
    }
    table_.watch(tags_[0], number_, interest::changes);
    table_.watch(tags_[1], number_, interest::updates);
    table_.watch(tags_[2], number_, interest::queued_samples);
    table_.watch(tags_[3], number_, interest::queued_changes);
    const auto publish_all = [&](std::uint64_t value) {
        ++time_;
        std::vector<number_value> values;
        for (const tag_handle tag : tags_) {
            values.push_back({tag, value});
        }
        writer_.publish_numbers(values, time_, time_ + 1);
    };
    const auto expect = [&](bool is_changed, std::int32_t value) {
        EXPECT_EQ(changed(), is_changed ? std::vector<std::uint32_t>{tags_[0].index}
                                        : std::vector<std::uint32_t>{});
        std::vector<std::uint32_t> updated;
        feed_.drain_updated(10, [&](std::uint32_t index) { updated.push_back(index); });
        EXPECT_EQ(updated, std::vector<std::uint32_t>{tags_[1].index});
        std::vector<tag_handle> queued;
        feed_.peek_samples(10, [&](const queued_sample& sample) {
            queued.push_back(sample.handle);
            EXPECT_EQ(sample.status, status_code::good);
            EXPECT_EQ(sample.changed, is_changed);
            EXPECT_EQ(sample.source_time, time_);
            EXPECT_EQ(sample.update_time, time_ + 1);
            std::int32_t held = 0;
            ASSERT_EQ(sample.value.size(), sizeof held);
            std::memcpy(&held, sample.value.data(), sizeof held);
            EXPECT_EQ(held, value);
        });
        feed_.release_samples();
        EXPECT_EQ(queued, is_changed ? (std::vector<tag_handle>{tags_[2], tags_[3]})
                                     : std::vector<tag_handle>{tags_[2]});
    };
    publish_all(1);
    expect(false, 1);
    publish_all(2);
    expect(true, 2);
    publish_all(2);
    expect(false, 2);
}

TEST_F(tag_feed_test, wakes_once_until_the_consumer_looks) {
    for (const tag_handle tag : tags_) {
        table_.watch(tag, number_, interest::changes);
        table_.watch(tag, number_, interest::queued_samples);
    }
    for (int i = 0; i < 10; ++i) {
        publish(static_cast<std::size_t>(i) % 4, i);
    }
    EXPECT_EQ(wakes_, 1);
    EXPECT_EQ(changed().size(), 4u);
    publish(0, 99);
    EXPECT_EQ(wakes_, 2);
}

TEST_F(tag_feed_test, queued_consumers_see_every_sample_or_the_overflow) {
    table_.watch(tags_[0], number_, interest::queued_samples);
    table_.watch(tags_[1], number_, interest::queued_changes);
    for (int i = 0; i < 5; ++i) {
        publish(0, 7);
        publish(1, 7);
    }
    std::vector<std::uint32_t> seen;
    feed_.peek_samples(100, [&](const queued_sample& sample) {
        seen.push_back(sample.handle.index);
        EXPECT_FALSE(sample.overflow);
        EXPECT_EQ(sample.value.size(), 4u);
    });
    feed_.release_samples();
    EXPECT_EQ(std::ranges::count(seen, tags_[0].index), 5);
    EXPECT_EQ(std::ranges::count(seen, tags_[1].index), 1);

    for (int i = 0; i < 1'000; ++i) {
        publish(0, i);
    }
    EXPECT_GT(feed_.lost_samples(), 0u);
    const std::size_t waiting = feed_.peek_samples(10'000, [](const queued_sample&) {});
    EXPECT_EQ(waiting + feed_.lost_samples(), 1'000u);
    feed_.release_samples();
    publish(0, -1);
    bool overflow = false;
    feed_.peek_samples(10, [&](const queued_sample& sample) { overflow = sample.overflow; });
    feed_.release_samples();
    EXPECT_TRUE(overflow) << "the first sample after the gap says so";
    EXPECT_EQ(feed_.drain_overflowed(10, [](std::uint32_t) {}), 0u) << "and nothing says it again";
}

TEST_F(tag_feed_test, an_overflow_without_a_later_sample_is_told_by_its_bit) {
    table_.watch(tags_[2], number_, interest::queued_samples);
    for (int i = 0; i < 1'000; ++i) {
        publish(2, i);
    }
    feed_.peek_samples(10'000, [](const queued_sample&) {});
    feed_.release_samples();
    std::vector<std::uint32_t> marked;
    feed_.drain_overflowed(10, [&](std::uint32_t index) { marked.push_back(index); });
    EXPECT_EQ(marked, std::vector<std::uint32_t>{tags_[2].index});
}

TEST_F(tag_feed_test, removing_a_watched_tag_is_a_change) {
    table_.watch(tags_[3], number_, interest::queued_samples);
    table_.remove(tags_[3]);
    EXPECT_EQ(changed(), std::vector<std::uint32_t>{tags_[3].index});
    EXPECT_FALSE(table_.watch(tags_[3], number_, interest::changes));
}

TEST_F(tag_feed_test, an_uncertain_status_is_queued_with_the_value_that_stays) {
    publish(0, 41);
    table_.watch(tags_[0], number_, interest::queued_changes);
    writer_.publish_status(tags_[0], reason_id::stale, std::nullopt, 50);
    writer_.publish_status(tags_[0], reason_id::link_down, 60, 60);
    std::vector<std::size_t> sizes;
    feed_.peek_samples(10, [&](const queued_sample& sample) {
        sizes.push_back(sample.value.size());
        if (!sample.value.empty()) {
            std::int32_t value = 0;
            std::memcpy(&value, sample.value.data(), sizeof value);
            EXPECT_EQ(value, 41);
        }
    });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 0}));
}

}  // namespace
}  // namespace tagferry::gateway
