#include "gateway/tags/tag_table.hpp"

#include "gateway/tags/tag_writer.hpp"
#include "tests/support/gateway/value_types.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace tagferry::gateway {
namespace {

using test::of;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

tag_table_limits small_limits() {
    tag_table_limits limits;
    limits.tags = 1024;
    limits.value_bytes = 16 * 1024 * 1024;
    limits.owners = 4;
    return limits;
}

class tag_table_test : public testing::Test {
  protected:
    tag_handle add(const value_type& type) {
        const auto handle = table_.add(owner_, type);
        EXPECT_TRUE(handle);
        return handle.value_or(tag_handle{});
    }

    tag_table table_{small_limits()};
    tag_table::owner_id owner_ = table_.add_owner().value();
    tag_writer writer_{table_, owner_, 0};
};

TEST_F(tag_table_test, a_new_tag_waits_for_initial_data) {
    const tag_handle tag = add(of(data_type::int16));
    std::array<std::byte, 2> value{};
    sample seen;
    ASSERT_EQ(table_.read(tag, value, seen), read_result::done);
    EXPECT_EQ(seen.status, status_code::bad_waiting_for_initial_data);
    EXPECT_EQ(seen.reason, reason_id::never_read);
    EXPECT_FALSE(seen.has_value);
    EXPECT_FALSE(seen.has_last_good);
    EXPECT_EQ(seen.source_time, 0);
    EXPECT_EQ(table_.count(owner_, quality::bad), 1u);
}

TEST_F(tag_table_test, reads_what_was_published) {
    const tag_handle tag = add(of(data_type::float64));
    const double written = 12.5;
    ASSERT_TRUE(
        writer_.publish(tag, status_code::good, reason_id::none, 1000, 1001, bytes_of(written)));
    double value = 0;
    sample seen;
    ASSERT_EQ(table_.read(tag, std::as_writable_bytes(std::span(&value, 1)), seen),
              read_result::done);
    EXPECT_EQ(value, written);
    EXPECT_EQ(seen.status, status_code::good);
    EXPECT_TRUE(seen.has_value);
    EXPECT_EQ(seen.value_size, 8u);
    EXPECT_EQ(seen.source_time, 1000);
    EXPECT_EQ(seen.update_time, 1001);
    EXPECT_EQ(seen.last_good_time, 1000);
    EXPECT_EQ(table_.count(owner_, quality::good), 1u);
    EXPECT_EQ(table_.count(owner_, quality::bad), 0u);
}

TEST_F(tag_table_test, numbers_are_read_the_quick_way_alike) {
    const std::uint64_t bits = 0x8877'6655'4433'2211;
    for (const data_type type :
         {data_type::boolean, data_type::int8, data_type::uint16, data_type::int32,
          data_type::float32, data_type::uint64, data_type::float64}) {
        const tag_handle tag = add(of(type));
        const std::size_t size = value_size(of(type));
        number_sample quick;
        ASSERT_TRUE(table_.read_number(tag, quick));
        EXPECT_FALSE(quick.has_value);
        EXPECT_EQ(quick.status, status_code::bad_waiting_for_initial_data);
        ASSERT_TRUE(writer_.publish(tag, status_code::good, reason_id::none, 5, 6,
                                    bytes_of(bits).first(size)));
        ASSERT_TRUE(table_.read_number(tag, quick));
        EXPECT_TRUE(quick.has_value);
        EXPECT_EQ(quick.type, type);
        EXPECT_EQ(quick.size, size);
        EXPECT_EQ(std::memcmp(&quick.bits, &bits, size), 0);
        EXPECT_EQ(quick.status, status_code::good);
        EXPECT_EQ(quick.source_time, 5);
        EXPECT_EQ(quick.update_time, 6);
        writer_.publish_status(tag, reason_id::link_down, std::nullopt, 7);
        ASSERT_TRUE(table_.read_number(tag, quick));
        EXPECT_FALSE(quick.has_value);
        ASSERT_TRUE(table_.remove(tag));
        EXPECT_FALSE(table_.read_number(tag, quick)) << "stale";
    }
}

TEST_F(tag_table_test, numbers_published_together_are_as_published_alone) {
    const std::uint64_t bits = 0x8877'6655'4433'2211;
    std::vector<tag_handle> tags;
    for (const data_type type :
         {data_type::boolean, data_type::int8, data_type::uint16, data_type::int32,
          data_type::uint64, data_type::float32, data_type::float64}) {
        for (int i = 0; i < 20; ++i) {
            tags.push_back(add(of(type)));
        }
    }
    const tag_handle text = add(of(data_type::string, -1, 4));
    const tag_handle gone = add(of(data_type::int32));
    ASSERT_TRUE(table_.remove(gone));
    const auto expect = [&](std::uint64_t of_all, transport::wall_time_ns time) {
        for (const tag_handle tag : tags) {
            number_sample seen;
            ASSERT_TRUE(table_.read_number(tag, seen));
            const std::size_t size = table_.value_size(tag);
            const std::uint64_t mask = size == 8 ? ~0ULL : (1ULL << (8 * size)) - 1;
            EXPECT_EQ(seen.bits, of_all & mask);
            EXPECT_EQ(seen.status, status_code::good);
            EXPECT_EQ(seen.source_time, time);
            EXPECT_EQ(seen.update_time, time + 1);
            sample last;
            std::array<std::byte, 8> value{};
            ASSERT_EQ(table_.read(tag, value, last, value_choice::last_good), read_result::done);
            EXPECT_EQ(last.last_good_time, time);
        }
        EXPECT_EQ(table_.count(owner_, quality::good), tags.size());
    };
    const auto publish_all = [&](std::uint64_t of_all, transport::wall_time_ns time) {
        std::vector<number_value> values{{gone, 1}, {text, 1}, {{999'999'999, 1}, 1}, {{}, 1}};
        for (const tag_handle tag : tags) {
            const std::size_t size = table_.value_size(tag);
            values.push_back({tag, size == 8 ? of_all : of_all & ((1ULL << (8 * size)) - 1)});
        }
        writer_.publish_numbers(values, time, time + 1);
    };
    publish_all(bits, 5);
    expect(bits, 5);
    publish_all(bits, 10);
    expect(bits, 10);
    publish_all(~bits, 15);
    expect(~bits, 15);
    for (const tag_handle tag : tags) {
        writer_.publish_status(tag, reason_id::link_down, 17, 17);
    }
    EXPECT_EQ(table_.count(owner_, quality::good), 0u);
    publish_all(~bits, 20);
    expect(~bits, 20);
    sample seen;
    EXPECT_EQ(table_.read(gone, {}, seen), read_result::stale);
    ASSERT_EQ(table_.read(text, {}, seen), read_result::done);
    EXPECT_EQ(seen.reason, reason_id::never_read);
    // The index of a removed tag belongs to another one: an old handle writes nothing there.
    ASSERT_TRUE(table_.remove(tags[0]));
    const std::vector<number_value> late{{tags[0], 7},
                                         {{tags[0].index, tags[0].generation + 1}, 7}};
    writer_.publish_numbers(late, 30, 30);
    const tag_handle next = add(of(data_type::int32));
    ASSERT_EQ(next.index, tags[0].index);
    writer_.publish_numbers(late, 31, 31);
    ASSERT_EQ(table_.read(next, {}, seen), read_result::done);
    EXPECT_EQ(seen.reason, reason_id::never_read);
}

TEST_F(tag_table_test, what_is_no_number_has_no_quick_way) {
    number_sample quick;
    EXPECT_FALSE(table_.read_number(add(of(data_type::string, -1, 4)), quick));
    EXPECT_FALSE(table_.read_number(add(of(data_type::int16, 2)), quick));
    EXPECT_FALSE(table_.read_number(add(of(data_type::date_time)), quick))
        << "may hold a substitute";
    EXPECT_FALSE(table_.read_number({1'000'000, 1}, quick));
    EXPECT_FALSE(table_.read_number({}, quick));
}

TEST_F(tag_table_test, a_lost_link_hides_the_value_and_keeps_the_last_good_one) {
    const tag_handle tag = add(of(data_type::int32));
    const std::int32_t written = 7;
    writer_.publish(tag, status_code::good, reason_id::none, 1000, 1000, bytes_of(written));
    ASSERT_TRUE(writer_.publish_status(tag, reason_id::link_down, 2000, 2000));
    std::int32_t value = 0;
    const auto into = std::as_writable_bytes(std::span(&value, 1));
    sample seen;
    ASSERT_EQ(table_.read(tag, into, seen), read_result::done);
    EXPECT_EQ(seen.status, status_code::bad_no_communication);
    EXPECT_FALSE(seen.has_value);
    EXPECT_EQ(seen.source_time, 2000);
    ASSERT_TRUE(seen.has_last_good);
    EXPECT_EQ(seen.last_good_time, 1000);
    EXPECT_EQ(value, 0) << "nothing is copied without a value";
    ASSERT_EQ(table_.read(tag, into, seen, value_choice::last_good), read_result::done);
    EXPECT_EQ(value, 7);
}

TEST_F(tag_table_test, a_stale_value_stays_with_its_own_source_time) {
    const tag_handle tag = add(of(data_type::int32));
    const std::int32_t written = 7;
    writer_.publish(tag, status_code::good, reason_id::none, 1000, 1000, bytes_of(written));
    ASSERT_TRUE(writer_.publish_status(tag, reason_id::stale, std::nullopt, 5000));
    std::int32_t value = 0;
    sample seen;
    table_.read(tag, std::as_writable_bytes(std::span(&value, 1)), seen);
    EXPECT_EQ(seen.status, status_code::uncertain_last_usable_value);
    EXPECT_TRUE(seen.has_value);
    EXPECT_EQ(value, 7);
    EXPECT_EQ(seen.source_time, 1000);
    EXPECT_EQ(table_.count(owner_, quality::uncertain), 1u);
}

TEST_F(tag_table_test, a_substitute_stands_beside_the_last_good_value) {
    const tag_handle tag = add(of(data_type::date_time));
    const std::int64_t good = 11;
    const std::int64_t substitute = 22;
    writer_.publish(tag, status_code::good, reason_id::none, 1000, 1000, bytes_of(good));
    ASSERT_TRUE(writer_.publish(tag, status_code::uncertain_substitute_value,
                                reason_id::invalid_date, 2000, 2000, bytes_of(substitute)));
    std::int64_t value = 0;
    const auto into = std::as_writable_bytes(std::span(&value, 1));
    sample seen;
    table_.read(tag, into, seen);
    EXPECT_EQ(value, 22);
    EXPECT_EQ(seen.source_time, 2000);
    table_.read(tag, into, seen, value_choice::last_good);
    EXPECT_EQ(value, 11);
    EXPECT_EQ(seen.last_good_time, 1000);
    const tag_handle number = add(of(data_type::int64));
    EXPECT_FALSE(writer_.publish(number, status_code::uncertain_substitute_value,
                                 reason_id::invalid_date, 1, 1, bytes_of(substitute)))
        << "a number is never a substitute";
}

TEST_F(tag_table_test, a_stale_handle_never_reads_the_tag_that_came_after) {
    const tag_handle old_tag = add(of(data_type::int32));
    const std::int32_t written = 7;
    writer_.publish(old_tag, status_code::good, reason_id::none, 1, 1, bytes_of(written));
    ASSERT_TRUE(table_.remove(old_tag));
    EXPECT_FALSE(table_.remove(old_tag));
    const tag_handle new_tag = add(of(data_type::int32));
    ASSERT_EQ(new_tag.index, old_tag.index) << "the index is used again";
    std::int32_t value = 0;
    const auto into = std::as_writable_bytes(std::span(&value, 1));
    sample seen;
    EXPECT_EQ(table_.read(old_tag, into, seen), read_result::stale);
    EXPECT_FALSE(
        writer_.publish(old_tag, status_code::good, reason_id::none, 2, 2, bytes_of(written)));
    EXPECT_FALSE(writer_.publish_status(old_tag, reason_id::link_down, 2, 2));
    ASSERT_EQ(table_.read(new_tag, into, seen), read_result::done);
    EXPECT_EQ(seen.status, status_code::bad_waiting_for_initial_data);
    EXPECT_FALSE(seen.has_last_good);
    EXPECT_EQ(table_.size(), 1u);
    EXPECT_EQ(table_.count(owner_, quality::bad), 1u);
}

TEST_F(tag_table_test, handles_out_of_nowhere_are_stale) {
    add(of(data_type::boolean));
    sample seen;
    std::array<std::byte, 8> into{};
    for (const tag_handle wrong :
         {tag_handle{}, tag_handle{0, 0}, tag_handle{0, 2}, tag_handle{0, 3}, tag_handle{5, 1},
          tag_handle{1023, 1}, tag_handle{0xFFFFFFFF, 1}, tag_handle{100'000, 7}}) {
        EXPECT_EQ(table_.read(wrong, into, seen), read_result::stale);
        EXPECT_FALSE(table_.contains(wrong));
        EXPECT_FALSE(table_.remove(wrong));
    }
}

TEST_F(tag_table_test, limits_refuse_more) {
    EXPECT_FALSE(table_.add(owner_, of(data_type::boolean, 65'537)));
    value_type none = of(data_type::structure);
    EXPECT_FALSE(table_.add(owner_, none));
    std::size_t added = 0;
    while (table_.add(owner_, of(data_type::boolean))) {
        ++added;
    }
    EXPECT_EQ(added, 1024u);
    EXPECT_TRUE(table_.add_owner());
    EXPECT_TRUE(table_.add_owner());
    EXPECT_TRUE(table_.add_owner());
    EXPECT_FALSE(table_.add_owner());
}

TEST_F(tag_table_test, pages_belong_to_one_owner_and_return) {
    const auto second = table_.add_owner().value();
    const tag_handle mine = add(of(data_type::int8));
    const tag_handle other = table_.add(second, of(data_type::int8)).value();
    EXPECT_NE(mine.index / tag_table::page_tags, other.index / tag_table::page_tags);
    table_.remove(other);
    table_.remove_owner(second);
    const auto third = table_.add_owner().value();
    const tag_handle again = table_.add(third, of(data_type::int8)).value();
    EXPECT_EQ(again.index / tag_table::page_tags, other.index / tag_table::page_tags);
    EXPECT_FALSE(table_.contains(other));
}

TEST_F(tag_table_test, parts_are_read_at_any_offset) {
    const tag_handle tag = add(of(data_type::uint8, 37));
    std::array<std::uint8_t, 37> written{};
    for (std::size_t i = 0; i < written.size(); ++i) {
        written[i] = static_cast<std::uint8_t>(i + 1);
    }
    writer_.publish(tag, status_code::good, reason_id::none, 1, 1,
                    std::as_bytes(std::span(written)));
    sample seen;
    for (std::size_t offset = 0; offset <= written.size(); ++offset) {
        for (std::size_t size = 0; offset + size <= written.size(); ++size) {
            std::vector<std::uint8_t> part(size);
            ASSERT_EQ(table_.read_part(tag, offset, std::as_writable_bytes(std::span(part)), seen),
                      read_result::done);
            ASSERT_TRUE(std::equal(part.begin(), part.end(),
                                   written.begin() + static_cast<std::ptrdiff_t>(offset)));
        }
    }
    std::array<std::byte, 2> past{};
    EXPECT_EQ(table_.read_part(tag, 36, past, seen), read_result::too_small);
    std::array<std::byte, 36> short_memory{};
    EXPECT_EQ(table_.read(tag, short_memory, seen), read_result::too_small);
    EXPECT_EQ(seen.value_size, 37u);
}

TEST_F(tag_table_test, large_values_are_immutable_while_held) {
    const tag_handle tag = add(of(data_type::uint8, 10'000));
    std::vector<std::byte> value(10'000);
    const auto publish = [&](int content) {
        std::ranges::fill(value, static_cast<std::byte>(content));
        return writer_.publish(tag, status_code::good, reason_id::none, content, content, value);
    };
    sample seen;
    std::vector<value_reference> held(large_value_buffers);
    for (int i = 0; i < static_cast<int>(held.size()); ++i) {
        ASSERT_TRUE(publish(i + 1));
        ASSERT_EQ(table_.read_large(tag, seen, held[static_cast<std::size_t>(i)]),
                  read_result::done);
        EXPECT_EQ(seen.source_time, i + 1);
    }
    EXPECT_FALSE(publish(9)) << "every buffer is held";
    EXPECT_EQ(writer_.refused_large_values(), 1u);
    for (int i = 0; i < static_cast<int>(held.size()); ++i) {
        const auto bytes = held[static_cast<std::size_t>(i)].bytes();
        ASSERT_EQ(bytes.size(), 10'000u);
        EXPECT_TRUE(std::ranges::all_of(
            bytes, [i](std::byte b) { return b == static_cast<std::byte>(i + 1); }));
    }
    held[0].reset();
    EXPECT_TRUE(publish(9));
    std::vector<std::byte> copy(10'000);
    ASSERT_EQ(table_.read(tag, copy, seen), read_result::done);
    EXPECT_EQ(copy, value);
}

TEST_F(tag_table_test, a_removed_large_value_lives_until_it_is_let_go) {
    const value_type type = of(data_type::uint8, 5'000);
    const tag_handle tag = add(type);
    const std::vector<std::byte> value(5'000, std::byte{0x5A});
    writer_.publish(tag, status_code::good, reason_id::none, 1, 1, value);
    sample seen;
    value_reference held;
    ASSERT_EQ(table_.read_large(tag, seen, held), read_result::done);
    table_.remove(tag);
    const tag_handle next = add(type);
    const std::vector<std::byte> other(5'000, std::byte{0x11});
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(writer_.publish(next, status_code::good, reason_id::none, i, i,
                                    i % 2 == 0 ? other : std::vector<std::byte>(5'000)));
    }
    EXPECT_TRUE(std::ranges::equal(held.bytes(), value));
}

TEST_F(tag_table_test, an_unchanged_large_value_takes_no_buffer) {
    const tag_handle tag = add(of(data_type::uint8, 5'000));
    const std::vector<std::byte> value(5'000, std::byte{1});
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(writer_.publish(tag, status_code::good, reason_id::none, i, i, value));
    }
    EXPECT_EQ(writer_.refused_large_values(), 0u);
    sample seen;
    value_reference held;
    table_.read_large(tag, seen, held);
    EXPECT_EQ(seen.source_time, 99);
}

TEST_F(tag_table_test, large_values_with_strings_keep_the_last_good_one) {
    const value_type type = of(data_type::string, 300, 30);
    const tag_handle tag = add(type);
    const std::vector<std::byte> good(value_size(type), std::byte{1});
    std::vector<std::byte> substitute(value_size(type), std::byte{2});
    ASSERT_TRUE(writer_.publish(tag, status_code::good, reason_id::none, 1, 1, good));
    for (int i = 0; i < 10; ++i) {
        substitute[0] = static_cast<std::byte>(i + 10);
        ASSERT_TRUE(writer_.publish(tag, status_code::uncertain_substitute_value,
                                    reason_id::uninitialised_string, 2, 2, substitute));
    }
    sample seen;
    value_reference held;
    table_.read_large(tag, seen, held);
    EXPECT_TRUE(std::ranges::equal(held.bytes(), substitute));
    table_.read_large(tag, seen, held, value_choice::last_good);
    EXPECT_TRUE(std::ranges::equal(held.bytes(), good));
    held.reset();
    ASSERT_TRUE(writer_.publish_status(tag, reason_id::stale, std::nullopt, 3));
    table_.read_large(tag, seen, held);
    EXPECT_TRUE(std::ranges::equal(held.bytes(), substitute));
}

TEST_F(tag_table_test, random_adding_and_removing_keeps_values_apart) {
    std::mt19937 random{7};
    struct live_tag {
        tag_handle handle;
        std::uint32_t value;
    };
    std::vector<live_tag> live;
    std::vector<tag_handle> gone;
    for (std::uint32_t step = 1; step < 20'000; ++step) {
        if (live.size() < 300 && (live.empty() || random() % 2 == 0)) {
            const tag_handle handle = add(of(data_type::uint32));
            writer_.publish(handle, status_code::good, reason_id::none, 1, 1, bytes_of(step));
            live.push_back({handle, step});
        } else {
            const std::size_t chosen = random() % live.size();
            ASSERT_TRUE(table_.remove(live[chosen].handle));
            gone.push_back(live[chosen].handle);
            live[chosen] = live.back();
            live.pop_back();
        }
        std::uint32_t value = 0;
        sample seen;
        const auto into = std::as_writable_bytes(std::span(&value, 1));
        if (!live.empty()) {
            const live_tag& one = live[random() % live.size()];
            ASSERT_EQ(table_.read(one.handle, into, seen), read_result::done);
            ASSERT_EQ(value, one.value);
        }
        if (!gone.empty()) {
            ASSERT_EQ(table_.read(gone[random() % gone.size()], into, seen), read_result::stale);
        }
    }
    EXPECT_EQ(table_.size(), live.size());
    EXPECT_EQ(table_.count(owner_, quality::good), live.size());
}

}  // namespace
}  // namespace tagferry::gateway
