#include "gateway/model/catalogue.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace tagferry::gateway {
namespace {

TEST(catalogue, every_entry_has_a_name_of_its_own_and_words) {
    std::set<std::string_view> seen;
    for (const reason_entry& entry : reason_catalogue()) {
        EXPECT_TRUE(seen.insert(entry.name).second) << entry.name;
        EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
                  std::string_view::npos);
        EXPECT_FALSE(entry.words.empty());
        EXPECT_NE(name_of(entry.status), "Unknown");
        EXPECT_EQ(&describe(entry.id), &entry);
        if (quality_of(entry.status) == quality::bad) {
            EXPECT_GE(entry.http_status, 400) << entry.name;
        }
    }
}

TEST(catalogue, a_number_outside_is_an_unexpected_error) {
    EXPECT_EQ(describe(static_cast<reason_id>(9999)).status, status_code::bad_unexpected_error);
}

TEST(catalogue, s7_item_codes_of_reads) {
    const auto status = [](std::uint8_t code) {
        return describe(reason_of_s7_read_code(code)).status;
    };
    EXPECT_EQ(status(0x01), status_code::bad_device_failure);
    EXPECT_EQ(status(0x03), status_code::bad_not_readable);
    EXPECT_EQ(status(0x05), status_code::bad_configuration_error);
    EXPECT_EQ(status(0x06), status_code::bad_not_supported);
    EXPECT_EQ(status(0x07), status_code::bad_type_mismatch);
    EXPECT_EQ(status(0x0A), status_code::bad_not_found);
    EXPECT_EQ(status(0x00), status_code::bad_unexpected_error);
    EXPECT_EQ(status(0x42), status_code::bad_unexpected_error);
}

TEST(catalogue, only_code_03_differs_for_writes) {
    for (int code = 0; code < 256; ++code) {
        const auto byte = static_cast<std::uint8_t>(code);
        if (code == 0x03) {
            EXPECT_EQ(describe(reason_of_s7_write_code(byte)).status,
                      status_code::bad_not_writable);
        } else {
            EXPECT_EQ(reason_of_s7_write_code(byte), reason_of_s7_read_code(byte));
        }
    }
}

TEST(catalogue, the_codes_in_the_entries_lead_to_the_entries) {
    for (const reason_entry& entry : reason_catalogue()) {
        if (entry.s7_code < 0 || entry.s7_code == 0xFF) {
            continue;
        }
        const auto code = static_cast<std::uint8_t>(entry.s7_code);
        EXPECT_TRUE(reason_of_s7_read_code(code) == entry.id ||
                    reason_of_s7_write_code(code) == entry.id)
            << entry.name;
    }
}

}  // namespace
}  // namespace tagferry::gateway
