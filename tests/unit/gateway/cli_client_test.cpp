// What the client commands make of words, URLs and answers, without a network.
#include "gateway/cli/gateway_client.hpp"
#include "gateway/cli/terminal.hpp"
#include "gateway/cli/value_rows.hpp"
#include "gateway/cli/value_text.hpp"
#include "gateway/cli/write_outcome.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

namespace tagferry::gateway::cli {
namespace {

using nlohmann::json;

std::string url_of(std::string_view text) {
    try {
        return gateway_address_of(text).url();
    } catch (const client_fault& fault) {
        EXPECT_EQ(fault.code(), exit_code::usage);
        return "";
    }
}

TEST(cli_client, urls) {
    EXPECT_EQ(url_of("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
    EXPECT_EQ(url_of("gateway.example:8080/"), "http://gateway.example:8080");
    EXPECT_EQ(url_of("http://gateway"), "http://gateway:80");
    EXPECT_EQ(url_of("http://[::1]:8080"), "http://[::1]:8080");
    EXPECT_EQ(gateway_address_of("[::1]").host, "::1");
    for (const char* bad : {"https://127.0.0.1", "http://", "http://a:0", "http://a:65536",
                            "http://a:8x", "http://[::1", "http://a/b:1", "", "http://:80"}) {
        EXPECT_EQ(url_of(bad), "") << bad;
    }
}

TEST(cli_client, values_go_by_the_type_of_the_tag) {
    EXPECT_EQ(value_of_text("true", "BOOL"), json(true));
    EXPECT_EQ(value_of_text("off", "BOOL"), json(false));
    EXPECT_EQ(value_of_text("-12", "INT"), json(-12));
    EXPECT_EQ(value_of_text("16#FF", "WORD"), json(255));
    EXPECT_EQ(value_of_text("0x10", "BYTE"), json(16));
    EXPECT_EQ(value_of_text("2#101", "BYTE"), json(5));
    EXPECT_EQ(value_of_text("18446744073709551615", "ULINT"), json("18446744073709551615"));
    EXPECT_EQ(value_of_text("-9223372036854775808", "LINT"), json("-9223372036854775808"));
    EXPECT_EQ(value_of_text("1e-3", "REAL"), json(0.001));
    EXPECT_EQ(value_of_text("-Infinity", "LREAL"), json("-Infinity"));
    EXPECT_EQ(value_of_text("12", "STRING[20]"), json("12"));
    EXPECT_EQ(value_of_text(" a, b ", "STRING[20]"), json(" a, b "));
    EXPECT_EQ(value_of_text("x", "CHAR"), json("x"));
}

TEST(cli_client, arrays_are_a_list_or_json) {
    EXPECT_EQ(value_of_text("1, 2,-3", "ARRAY[0..2] OF INT"), json::parse("[1,2,-3]"));
    EXPECT_EQ(value_of_text("[1, 2, 3]", "ARRAY[0..2] OF INT"), json::parse("[1,2,3]"));
    EXPECT_EQ(value_of_text("on,off", "ARRAY[0..1] OF BOOL"), json::parse("[true,false]"));
    EXPECT_EQ(value_of_text(R"(["a,b", "c"])", "ARRAY[0..1] OF STRING[5]"),
              json::parse(R"(["a,b","c"])"));
    EXPECT_EQ(value_of_text("[true, 0]", "ARRAY[0..1] OF BOOL"), json::parse("[true,false]"));
    EXPECT_EQ(value_of_text("5", "ARRAY[0..0] OF LINT"), json::parse(R"(["5"])"));
}

TEST(cli_client, what_does_not_fit_the_type_is_said) {
    const auto fault_of = [](std::string_view text, std::string_view type) -> std::string {
        try {
            return value_of_text(text, type).dump() + " was taken";
        } catch (const client_fault& fault) {
            EXPECT_EQ(fault.code(), exit_code::bad_data);
            return fault.what();
        }
    };
    EXPECT_EQ(fault_of("maybe", "BOOL"), "\"maybe\" is no BOOL: write true or false");
    EXPECT_EQ(fault_of("1.5", "INT"),
              "\"1.5\" is no INT: write a whole number, e.g. 42, -1 or 16#1F");
    EXPECT_NE(fault_of("", "INT").find("is no INT"), std::string::npos);
    EXPECT_NE(fault_of("-", "INT").find("is no INT"), std::string::npos);
    EXPECT_NE(fault_of("99999999999999999999", "ULINT").find("is no ULINT"), std::string::npos);
    EXPECT_NE(fault_of("1,5", "REAL").find("is no REAL"), std::string::npos);
    EXPECT_NE(fault_of("inf", "REAL").find("is no REAL"), std::string::npos);
    EXPECT_NE(fault_of("1,,2", "ARRAY[0..2] OF INT").find("is no INT"), std::string::npos);
    EXPECT_NE(fault_of("[1, 2", "ARRAY[0..1] OF INT").find("a JSON array"), std::string::npos);
}

TEST(cli_client, texts_of_values) {
    EXPECT_EQ(value_text(json(nullptr)), "-");
    EXPECT_EQ(value_text(json("a\tb\033")), "a\\tb\\x1b");
    EXPECT_EQ(value_text(json(1034.2)), "1034.2");
    EXPECT_EQ(value_text(json::parse("[1,2.5,\"x\"]")), "[1, 2.5, \"x\"]");
}

exit_code code_of(unsigned status, const std::string& body) {
    return outcome_of({status, body}).code;
}

TEST(cli_client, every_outcome_of_a_write_has_its_code) {
    EXPECT_EQ(code_of(200, R"({"outcome": "answered", "status": "Good"})"), exit_code::success);
    EXPECT_EQ(code_of(403, R"({"detail": "no"})"), exit_code::no_permission);
    EXPECT_EQ(code_of(409, R"({"outcome": "rejected"})"), exit_code::no_permission);
    EXPECT_EQ(code_of(422, R"({"outcome": "rejected"})"), exit_code::bad_data);
    EXPECT_EQ(code_of(502, R"({"outcome": "answered"})"), exit_code::failure);
    EXPECT_EQ(code_of(503, R"({"outcome": "not_sent"})"), exit_code::temporary);
    EXPECT_EQ(code_of(504, R"({"outcome": "unknown"})"), exit_code::outcome_unknown);
    EXPECT_EQ(code_of(502, R"({"outcome": "partial"})"), exit_code::partly_written);
    EXPECT_EQ(code_of(504, "not JSON"), exit_code::outcome_unknown);
    EXPECT_EQ(code_of(503, "{}"), exit_code::temporary);
    EXPECT_EQ(words_of(outcome_of({503, R"({"outcome":"not_sent","detail":"The link is down.",
                                            "hint":"Try again"})"}),
                       "1"),
              "not sent, nothing was changed: The link is down. Try again");
    EXPECT_EQ(words_of(outcome_of({200, "{}"}), "[1, 2]"), "written: [1, 2]");
}

TEST(cli_client, times) {
    EXPECT_DOUBLE_EQ(seconds_of("1970-01-02T00:00:01.250Z"), 86'401.25);
    EXPECT_DOUBLE_EQ(seconds_of(nullptr), 0);
    EXPECT_DOUBLE_EQ(seconds_of("yesterday"), 0);
    EXPECT_EQ(duration_words(14.2), "14 s");
    EXPECT_EQ(duration_words(600), "10 min");
    EXPECT_EQ(duration_words(7'200), "2 h");
    EXPECT_EQ(duration_words(-3), "0 s");
}

TEST(cli_client, columns_are_as_wide_as_their_widest_cell) {
    std::ostringstream out;
    print_table(out, {}, {{{"TAG"}, {"VALUE"}}, {{"Öl"}, {"1"}}, {{"pressure"}, {"12"}}});
    EXPECT_EQ(out.str(), "TAG       VALUE\nÖl        1\npressure  12\n");
}

}  // namespace
}  // namespace tagferry::gateway::cli
