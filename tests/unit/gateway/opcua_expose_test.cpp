// The feed and the tree as the OPC UA server uses them, over a table without a source.
#include "gateway/expose/opcua/feed.hpp"
#include "gateway/expose/opcua/tree.hpp"
#include "gateway/expose/opcua/values.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "gateway/tags/tag_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace tagferry::gateway {
namespace {

class opcua_expose_test : public testing::Test,
                          protected model_access,
                          protected transport::completion_sink {
  protected:
    void SetUp() override {
        config::configuration from;
        config::connection& press = from.connections.emplace_back();
        press.name = "press";
        press.scan_classes = {{"fast", 100, {}}};
        for (const auto& [path, type] : {std::pair{"g/a", "INT"}, std::pair{"b", "INT"},
                                         std::pair{"text", "ARRAY[0..1] OF STRING[4]"}}) {
            config::tag tag;
            tag.path = path;
            tag.type = type;
            press.tags.push_back(tag);
        }
        std::vector<model_error> errors;
        model_ = builder_.build(from, &read_s7_type, errors);
        ASSERT_TRUE(errors.empty());
    }
    const tag_model& model() const noexcept override { return *model_; }
    void resume(transport::completion_token token, std::uint32_t, transport::time_point) override {
        ++resumed_;
        last_token_ = token;
    }
    opcua::tag_handle tag(std::string_view path) const {
        const tag_handle found = model_->tags()[model_->find(path)->item].handle;
        return {found.index, found.generation};
    }
    void publish(std::string_view path, std::int16_t value) {
        const opcua::tag_handle to = tag(path);
        tag_writer writer{table_, model_->connections()[0].owner, 0};
        ++time_;
        ASSERT_TRUE(writer.publish({to.index, to.generation}, status_code::good, reason_id::none,
                                   time_, time_, std::as_bytes(std::span(&value, 1))));
    }

    transport::real_clock clock_;
    transport::shard shard_{{"test"}, clock_};
    tag_table table_;
    opcua_feed feed_{shard_, *this, table_, 1, {3, 4096}};
    model_builder builder_{table_};
    std::unique_ptr<const tag_model> model_;
    opcua::actor nobody_;
    opcua::call call_{nobody_, transport::time_point::max(), {7, 1}, this};
    int resumed_ = 0;
    transport::completion_token last_token_;
    transport::wall_time_ns time_ = 0;
};

TEST_F(opcua_expose_test, watching_reports_the_initial_value_and_wakes_when_armed) {
    ASSERT_TRUE(feed_.watch(call_, tag("press/b"), opcua::feed_kind::latest));
    EXPECT_FALSE(feed_.watch(call_, {tag("press/b").index, 99}, opcua::feed_kind::latest));
    {
        const transport::turn_scope turn(shard_);
        feed_.arm(call_);
        EXPECT_EQ(resumed_, 0) << "never on this stack";
    }
    shard_.poll_here();
    EXPECT_EQ(resumed_, 1);
    std::array<opcua::feed_mark, 8> marks;
    ASSERT_EQ(feed_.drain_latest(marks), 1u);
    EXPECT_EQ(marks[0].handle, tag("press/b"));
    EXPECT_EQ(feed_.drain_latest(marks), 0u);
    std::array<opcua::feed_sample, 8> none;
    EXPECT_EQ(feed_.drain_queued(none), 0u);
    feed_.arm(call_);
    shard_.poll_here();
    EXPECT_EQ(resumed_, 1) << "no news";
    publish("press/b", 5);
    publish("press/g/a", 5);
    shard_.poll_here();
    EXPECT_EQ(resumed_, 2);
    EXPECT_EQ(last_token_, (transport::completion_token{7, 1}));
    EXPECT_EQ(feed_.drain_latest(marks), 1u) << "nobody watches the other";
}

TEST_F(opcua_expose_test, watching_twice_needs_unwatching_twice) {
    const auto b = tag("press/b");
    ASSERT_TRUE(feed_.watch(call_, b, opcua::feed_kind::latest));
    ASSERT_TRUE(feed_.watch(call_, b, opcua::feed_kind::latest));
    feed_.unwatch(call_, b, opcua::feed_kind::latest);
    std::array<opcua::feed_mark, 8> marks;
    EXPECT_EQ(feed_.drain_latest(marks), 1u);
    publish("press/b", 1);
    EXPECT_EQ(feed_.drain_latest(marks), 1u);
    feed_.unwatch(call_, b, opcua::feed_kind::latest);
    publish("press/b", 2);
    EXPECT_EQ(feed_.drain_latest(marks), 0u);
}

TEST_F(opcua_expose_test, a_queue_gives_every_sample_or_the_overflow) {
    const auto b = tag("press/b");
    ASSERT_TRUE(feed_.watch(call_, b, opcua::feed_kind::queued));
    std::array<opcua::feed_sample, 8> samples;
    for (std::int16_t i = 1; i <= 3; ++i) {
        publish("press/b", i);
    }
    ASSERT_EQ(feed_.drain_queued(samples), 3u);
    std::int16_t value = 0;
    std::memcpy(&value, samples[2].data.value.bytes.data(), sizeof value);
    EXPECT_EQ(value, 3);
    EXPECT_FALSE(samples[2].overflow);
    for (std::int16_t i = 0; i < 1'000; ++i) {
        publish("press/b", i);
    }
    bool overflow = false;
    for (std::size_t got = 1; got != 0;) {
        got = feed_.drain_queued(samples);
        for (std::size_t i = 0; i < got; ++i) {
            overflow = overflow || samples[i].overflow;
            std::memcpy(&value, samples[i].data.value.bytes.data(), sizeof value);
        }
    }
    EXPECT_TRUE(overflow);
    EXPECT_EQ(value, 999) << "the newest sample is always told";
}

TEST_F(opcua_expose_test, the_tree_is_paged_and_found_by_name) {
    opcua_tree tree{*this};
    opcua::tree_handle press;
    ASSERT_TRUE(tree.find_child(call_, opcua::tree_root, "press", press));
    std::array<opcua::tree_node, 2> page;
    opcua::tree_page first = tree.children(call_, press, 0, page);
    ASSERT_EQ(first.count, 2u);
    EXPECT_EQ(page[0].name, "g");
    EXPECT_EQ(page[1].path, "press/b");
    ASSERT_NE(first.next, 0u);
    first = tree.children(call_, press, first.next, page);
    EXPECT_EQ(first.count, 1u);
    EXPECT_EQ(first.next, 0u);
    EXPECT_EQ(page[0].type, opcua::builtin_type::string);
    EXPECT_EQ(page[0].array_length, 2);
    opcua::tree_handle none;
    EXPECT_FALSE(tree.find(call_, "", none));
    EXPECT_FALSE(tree.find_child(call_, press, "nothing", none));
    EXPECT_TRUE(tree.children(call_, {opcua::tree_kind::group, 77, 1}, 0, page).parent_unknown);
}

TEST_F(opcua_expose_test, arrays_of_text_are_shown_without_their_unused_room) {
    source_directory nothing;
    device_read_hub reads{shard_, *this, nothing, opcua_device_read_codes(), {}};
    opcua_values values{*this, table_, reads};
    const opcua::tag_handle text = tag("press/text");
    std::vector<std::byte> slot(table_.value_size({text.index, text.generation}));
    const std::size_t stride = slot.size() / 2;
    slot[0] = std::byte{1};
    slot[2] = std::byte{'x'};
    slot[stride] = std::byte{2};
    slot[stride + 2] = std::byte{'y'};
    slot[stride + 3] = std::byte{'z'};
    tag_writer writer{table_, model_->connections()[0].owner, 0};
    ASSERT_TRUE(writer.publish({text.index, text.generation}, status_code::good, reason_id::none, 1,
                               1, slot));
    std::array<std::byte, opcua::max_inline_value_bytes> scratch;
    opcua::sample seen;
    ASSERT_TRUE(values.read_current(call_, text, scratch, seen));
    ASSERT_EQ(seen.value.bytes.size(), 7u);
    EXPECT_EQ(seen.value.bytes[2], std::byte{'x'});
    EXPECT_EQ(seen.value.bytes[6], std::byte{'z'});
    EXPECT_FALSE(values.read_current(call_, {text.index, text.generation + 2}, scratch, seen));
    std::array<opcua::number_sample, 2> numbers;
    values.read_numbers(call_, std::array{text, opcua::tag_handle{text.index, 0}}, numbers);
    EXPECT_EQ(numbers[0].type, opcua::builtin_type::null);
    EXPECT_EQ(numbers[1].type, opcua::builtin_type::null);
}

}  // namespace
}  // namespace tagferry::gateway
