// Every type of value, exactly, as another JSON library reads it.
#include "web/api/value_json.hpp"

#include "tests/unit/web/fake_backend.hpp"
#include "web/http/json_writer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace tagferry::web::testing {
namespace {

class value_json : public ::testing::Test {
  protected:
    template <typename Put>
    std::string text(Put&& put) {
        output_chain out(pool_, max_connection_output_slots);
        put(out);
        EXPECT_TRUE(out.ok());
        std::string text;
        transport::send_batch batch;
        out.pull(batch);
        for (const auto& segment : batch.segments()) {
            text.append(reinterpret_cast<const char*>(segment.data()), segment.size());
        }
        out.clear();
        return text;
    }

    std::string text_of(value_type type, std::int32_t length, std::span<const std::byte> bytes) {
        return text([&](output_chain& out) { put_json_value(out, {type, length, bytes}); });
    }

    template <typename T>
    nlohmann::json json_of(value_type type, T value) {
        return nlohmann::json::parse(text_of(type, scalar, bytes_of(value)));
    }

    nlohmann::json string_json(std::string_view value) {
        return nlohmann::json::parse(text_of(value_type::string, scalar, counted_bytes_of(value)));
    }

    // Small slots, so that values cross their borders.
    transport::pinned_pool pool_{{"test_output", 2048, 64}};
};

TEST_F(value_json, integers) {
    EXPECT_EQ(json_of(value_type::int8, std::int8_t{-128}), -128);
    EXPECT_EQ(json_of(value_type::uint8, std::uint8_t{255}), 255);
    EXPECT_EQ(json_of(value_type::int16, std::int16_t{-32768}), -32768);
    EXPECT_EQ(json_of(value_type::uint16, std::uint16_t{65535}), 65535);
    EXPECT_EQ(json_of(value_type::int32, std::numeric_limits<std::int32_t>::min()), -2147483648LL);
    EXPECT_EQ(json_of(value_type::uint32, std::numeric_limits<std::uint32_t>::max()), 4294967295U);
    EXPECT_EQ(json_of(value_type::int64, std::numeric_limits<std::int64_t>::min()),
              "-9223372036854775808");
    EXPECT_EQ(json_of(value_type::uint64, std::numeric_limits<std::uint64_t>::max()),
              "18446744073709551615");
}

TEST_F(value_json, booleans) {
    EXPECT_EQ(json_of(value_type::boolean, std::uint8_t{0}), false);
    EXPECT_EQ(json_of(value_type::boolean, std::uint8_t{1}), true);
}

TEST_F(value_json, floats_come_back_as_the_same_float) {
    for (const float value :
         {0.0F, 0.1F, 1.0F / 3, 1e-45F, 3.4028235e38F, -1.17549435e-38F, 16777217.0F, 1e22F}) {
        const auto got = json_of(value_type::float32, value);
        ASSERT_TRUE(got.is_number()) << value;
        EXPECT_EQ(got.get<float>(), value);
    }
    EXPECT_EQ(text_of(value_type::float32, scalar, bytes_of(-0.0F)), "-0");
    for (const double value : {0.1, 1e300, 5e-324, 1.7976931348623157e308, -123456789.125, 1e21}) {
        const auto got = json_of(value_type::float64, value);
        ASSERT_TRUE(got.is_number()) << value;
        EXPECT_EQ(got.get<double>(), value);
    }
}

TEST_F(value_json, what_json_cannot_say_is_a_string) {
    EXPECT_EQ(json_of(value_type::float32, std::numeric_limits<float>::quiet_NaN()), "NaN");
    EXPECT_EQ(json_of(value_type::float64, -std::numeric_limits<double>::quiet_NaN()), "NaN");
    EXPECT_EQ(json_of(value_type::float64, std::numeric_limits<double>::infinity()), "Infinity");
    EXPECT_EQ(json_of(value_type::float32, -std::numeric_limits<float>::infinity()), "-Infinity");
}

TEST_F(value_json, strings) {
    EXPECT_EQ(string_json(""), "");
    EXPECT_EQ(string_json("plain"), "plain");
    std::string all;
    for (int c = 0; c < 0x80; ++c) {
        all += static_cast<char>(c);
    }
    EXPECT_EQ(string_json(all), all);
    const std::string unicode = "M\xC3\xBChle \xE2\x82\xAC \xF0\x9F\x8F\xAD";
    EXPECT_EQ(string_json(unicode), unicode);
}

TEST_F(value_json, invalid_utf_8_is_replaced) {
    const std::string replaced = "\xEF\xBF\xBD";
    EXPECT_EQ(string_json("a\xFFz"), "a" + replaced + "z");
    EXPECT_EQ(string_json("\xC3"), replaced);
    EXPECT_EQ(string_json("\xC0\x80"), replaced + replaced);
    EXPECT_EQ(string_json("\xED\xA0\x80"), replaced + replaced + replaced);
    EXPECT_EQ(string_json("\xF4\x90\x80\x80"), replaced + replaced + replaced + replaced);
    EXPECT_EQ(string_json("\xE2\x82z"), replaced + replaced + "z");
}

TEST_F(value_json, byte_strings_are_base64) {
    const auto base64 = [&](std::string_view bytes) {
        return nlohmann::json::parse(
                   text_of(value_type::byte_string, scalar, counted_bytes_of(bytes)))
            .get<std::string>();
    };
    // RFC 4648, 10.
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foob"), "Zm9vYg==");
    EXPECT_EQ(base64("\xFB\xFF\xFE"), "+//+");
}

TEST_F(value_json, date_and_time) {
    constexpr std::int64_t second = 10'000'000;
    constexpr std::int64_t to_1970 = 11'644'473'600 * second;
    const auto time = [&](std::int64_t ticks) {
        return json_of(value_type::date_time, ticks).get<std::string>();
    };
    EXPECT_EQ(time(0), "1601-01-01T00:00:00Z");
    EXPECT_EQ(time(to_1970), "1970-01-01T00:00:00Z");
    EXPECT_EQ(time(to_1970 + 1'709'208'000 * second + 2'500'000), "2024-02-29T12:00:00.250Z");
    EXPECT_EQ(time(to_1970 - 1), "1969-12-31T23:59:59.999999900Z");
    EXPECT_EQ(time(1), "1601-01-01T00:00:00.000000100Z");
    EXPECT_EQ(time(to_1970 + 951'827'696 * second), "2000-02-29T12:34:56Z");
    EXPECT_EQ(time(to_1970 + 4'107'542'399 * second), "2100-02-28T23:59:59Z");
    EXPECT_EQ(time(to_1970 + 4'107'542'400 * second), "2100-03-01T00:00:00Z");
    EXPECT_EQ(time(-5), "1601-01-01T00:00:00Z");
    EXPECT_EQ(time(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59Z");
    const auto wall = [&](transport::wall_time_ns ns) {
        return text([&](output_chain& out) { put_json_time(out, ns); });
    };
    EXPECT_EQ(wall(1), "\"1970-01-01T00:00:00.000000001Z\"");
    EXPECT_EQ(wall(-1), "\"1969-12-31T23:59:59.999999999Z\"");
    EXPECT_EQ(wall(1'709'208'000'000'250'000), "\"2024-02-29T12:00:00.000250Z\"");
}

TEST_F(value_json, arrays) {
    std::vector<std::byte> bytes;
    for (const std::int16_t value : {std::int16_t{1}, std::int16_t{-2}, std::int16_t{3}}) {
        const auto one = bytes_of(value);
        bytes.insert(bytes.end(), one.begin(), one.end());
    }
    EXPECT_EQ(text_of(value_type::int16, 3, bytes), "[1,-2,3]");
    EXPECT_EQ(text_of(value_type::int16, 0, {}), "[]");
    std::vector<std::byte> strings;
    for (const std::string_view value : {"a", "", "c\""}) {
        const auto one = counted_bytes_of(value);
        strings.insert(strings.end(), one.begin(), one.end());
    }
    EXPECT_EQ(text_of(value_type::string, 3, strings), R"(["a","","c\""])");
    std::vector<std::byte> many(4000 * sizeof(std::uint64_t), std::byte{0xFF});
    const auto got = nlohmann::json::parse(text_of(value_type::uint64, 4000, many));
    ASSERT_EQ(got.size(), 4000U);
    EXPECT_EQ(got[3999], "18446744073709551615");
}

// Rows without anything to escape are written in one piece: the same JSON as all others.
TEST_F(value_json, rows_of_every_path_and_time) {
    const auto bytes = bytes_of(1.5);
    const auto row_text = [&](std::string_view path, transport::wall_time_ns source,
                              transport::wall_time_ns server) {
        value_row row;
        row.path = path;
        row.value = {value_type::float64, scalar, bytes};
        row.source_timestamp = source;
        row.server_timestamp = server;
        return text([&](output_chain& out) { put_json_row(out, row); });
    };
    const std::string plain = "plant/line/tank-1/level";
    for (std::size_t at = 0; at < plain.size(); ++at) {
        for (const std::string_view put : {"x", "\"", "\\", "\xC3\xBC", "\n"}) {
            const std::string path = std::string(plain).replace(at, 1, put);
            const auto got = nlohmann::json::parse(row_text(path, 1, 1));
            EXPECT_EQ(got["path"], path);
            EXPECT_EQ(got["value"], 1.5);
        }
    }
    for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 767U, 768U, 769U, 3000U}) {
        const std::string path(size, 'p');
        EXPECT_EQ(nlohmann::json::parse(row_text(path, 1, 1))["path"], path);
    }
    constexpr transport::wall_time_ns second = 1'000'000'000;
    EXPECT_EQ(row_text("a", 86'399 * second + 5'000'000, 86'400 * second),
              R"({"path":"a","value":1.5,"status":"Good","reason":null,)"
              R"("source_timestamp":"1970-01-01T23:59:59.005Z",)"
              R"("server_timestamp":"1970-01-02T00:00:00Z"})");
    EXPECT_EQ(row_text("a", 0, second + 1),
              R"({"path":"a","value":1.5,"status":"Good","reason":null,"source_timestamp":null,)"
              R"("server_timestamp":"1970-01-01T00:00:01.000000001Z"})");
    EXPECT_EQ(row_text("a", second + 1, second + 1),
              R"({"path":"a","value":1.5,"status":"Good","reason":null,)"
              R"("source_timestamp":"1970-01-01T00:00:01.000000001Z",)"
              R"("server_timestamp":"1970-01-01T00:00:01.000000001Z"})");
}

TEST_F(value_json, bytes_that_do_not_hold_the_value_are_null) {
    EXPECT_EQ(text_of(value_type::none, scalar, {}), "null");
    EXPECT_EQ(text_of(value_type::int32, scalar, bytes_of(std::int16_t{1})), "null");
    EXPECT_EQ(text_of(value_type::int16, 3, bytes_of(std::int32_t{1})), "null");
    EXPECT_EQ(text_of(value_type::string, scalar, bytes_of(std::uint16_t{5})), "null");
    EXPECT_EQ(text_of(value_type::string, scalar, bytes_of(std::uint8_t{0})), "null");
    EXPECT_EQ(text_of(value_type::string, 2, counted_bytes_of("one")), "null");
}

}  // namespace
}  // namespace tagferry::web::testing
