// Writing over REST: values taken from JSON, outcomes told as statuses, who may, and what is
// logged.
#include "tests/unit/web/web_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tagferry::web::testing {
namespace {

using nlohmann::json;

class write_test : public web_test {
  protected:
    write_test() {
        const auto add = [&](std::string path, value_type type, std::int32_t length = scalar,
                             std::uint16_t capacity = 0) {
            above.values.tags.push_back({.path = std::move(path),
                                         .type = type,
                                         .array_length = length,
                                         .bytes = {},
                                         .writable = true,
                                         .capacity = capacity});
        };
        add("w/bool", value_type::boolean);
        add("w/byte", value_type::uint8);
        add("w/int", value_type::int16);
        add("w/lint", value_type::int64);
        add("w/ulint", value_type::uint64);
        add("w/real", value_type::float32);
        add("w/lreal", value_type::float64);
        add("w/text", value_type::string, scalar, 8);
        add("w/list", value_type::int16, 3);
        add("w/texts", value_type::string, 2, 4);
        add("w/time", value_type::date_time);
        add("w/bytes", value_type::byte_string, scalar, 4);
    }

    static std::string body_request(std::string_view method, std::string_view target,
                                    std::string_view body, std::string_view fields) {
        return request(target, method,
                       "Content-Length: " + std::to_string(body.size()) + "\r\n" +
                           std::string(fields)) +
               std::string(body);
    }

    static constexpr std::string_view as_operator =
        "Authorization: Bearer operator-token\r\nContent-Type: application/json\r\n";

    /// One request whose writes are all accepted.
    answer send(std::string_view method, std::string_view target, std::string_view body,
                std::string_view fields = as_operator) {
        auto& connection = connect();
        connection.send(body_request(method, target, body, fields), now());
        written = above.writes.calls;
        above.writes.finish(now());
        connection.turn(now());
        std::string wire = connection.take();
        auto answers = take_answers(wire);
        EXPECT_EQ(answers.size(), 1U) << wire;
        return answers.empty() ? answer{} : answers.front();
    }
    answer put(std::string_view path, std::string_view value) {
        return send("PUT", "/api/v1/values/" + std::string(path),
                    "{\"value\":" + std::string(value) + "}");
    }
    /// The slot form that was passed on for this JSON; empty when it was refused.
    std::vector<std::byte> slot(std::string_view path, std::string_view value) {
        const answer got = put(path, value);
        EXPECT_EQ(got.status == 200, !written.empty()) << got.body;
        return written.empty() ? std::vector<std::byte>() : written.front().values.front();
    }

    std::vector<fake_writes::write_call> written;
};

TEST_F(write_test, an_accepted_write_is_answered_with_its_result) {
    const answer got =
        send("PUT", "/api/v1/values/w/int", R"({"value":-5,"reason":"trial \u00fc"})");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.json(), json::parse(R"({"path":"w/int","ok":true,"outcome":"answered",
        "status":"Good","code":"write_accepted","reason":"the PLC accepted the write",
        "remedy":null})"));
    ASSERT_EQ(written.size(), 1U);
    EXPECT_EQ(written[0].paths, std::vector<std::string>{"w/int"});
    EXPECT_EQ(written[0].values[0], bytes_of(std::int16_t{-5}));
    EXPECT_EQ(written[0].user, "shift");
    EXPECT_EQ(written[0].reason, "trial \xC3\xBC");
}

TEST_F(write_test, every_type_takes_its_values_and_nothing_else) {
    EXPECT_EQ(slot("w/bool", "true"), bytes_of(std::uint8_t{1}));
    EXPECT_EQ(slot("w/byte", "255"), bytes_of(std::uint8_t{255}));
    EXPECT_EQ(slot("w/int", "5.0"), bytes_of(std::int16_t{5}));
    EXPECT_EQ(slot("w/int", "-3.2768e4"), bytes_of(std::int16_t{-32768}));
    EXPECT_EQ(slot("w/lint", "\"-9223372036854775808\""), bytes_of(INT64_MIN));
    EXPECT_EQ(slot("w/ulint", "\"18446744073709551615\""), bytes_of(UINT64_MAX));
    EXPECT_EQ(slot("w/ulint", "18446744073709551615"), bytes_of(UINT64_MAX));
    EXPECT_EQ(slot("w/real", "1.5"), bytes_of(1.5F));
    EXPECT_EQ(slot("w/real", "\"-Infinity\""), bytes_of(-std::numeric_limits<float>::infinity()));
    EXPECT_EQ(slot("w/lreal", "1e-400"), bytes_of(0.0));
    EXPECT_EQ(slot("w/lreal", "0.1"), bytes_of(0.1));
    EXPECT_EQ(slot("w/text", R"("a\"\u00e4")"), counted_bytes_of("a\"\xC3\xA4"));
    EXPECT_EQ(slot("w/text", "\"\""), counted_bytes_of(""));
    auto list = bytes_of(std::int16_t{1});
    for (const std::int16_t each : {std::int16_t{2}, std::int16_t{-3}}) {
        const auto more = bytes_of(each);
        list.insert(list.end(), more.begin(), more.end());
    }
    EXPECT_EQ(slot("w/list", "[1,2,-3]"), list);
    auto texts = counted_bytes_of("ab");
    const auto second = counted_bytes_of("wxyz");
    texts.insert(texts.end(), second.begin(), second.end());
    EXPECT_EQ(slot("w/texts", R"(["ab","wxyz"])"), texts);
    EXPECT_EQ(slot("w/time", R"("1601-01-02T00:00:00.5Z")"),
              bytes_of(std::int64_t{864'000'000'000 + 5'000'000}));
    EXPECT_EQ(slot("w/bytes", R"("AQID")"), counted_bytes_of("\x01\x02\x03"));
}

TEST_F(write_test, what_does_not_fit_is_said_and_not_passed_on) {
    const auto code = [&](std::string_view path, std::string_view value) {
        const answer got = put(path, value);
        EXPECT_EQ(got.status, 422) << path << value;
        EXPECT_TRUE(written.empty());
        EXPECT_EQ(got.json()["errors"][0]["pointer"], "/value");
        EXPECT_EQ(got.json()["outcome"], "rejected");
        return got.json()["code"].get<std::string>();
    };
    for (const std::string_view wrong : {"1", "\"true\"", "null", "[true]", "{}"}) {
        EXPECT_EQ(code("w/bool", wrong), "write_type_mismatch") << wrong;
    }
    for (const std::string_view wrong : {"true", "\"5\"", "1.5", "[1]", "null"}) {
        EXPECT_EQ(code("w/int", wrong), "write_type_mismatch") << wrong;
    }
    for (const std::string_view wrong : {"32768", "-32769", "1e300", "1e999"}) {
        EXPECT_EQ(code("w/int", wrong), "write_out_of_range") << wrong;
    }
    EXPECT_EQ(code("w/byte", "-1"), "write_out_of_range");
    EXPECT_EQ(code("w/lint", "\"9223372036854775808\""), "write_out_of_range");
    EXPECT_EQ(code("w/lint", "\"1 \""), "write_type_mismatch");
    EXPECT_EQ(code("w/real", "1e39"), "write_out_of_range");
    EXPECT_EQ(code("w/lreal", "1e400"), "write_out_of_range");
    EXPECT_EQ(code("w/lreal", "1" + std::string(400, '0') + "e-1"), "write_out_of_range");
    EXPECT_EQ(code("w/real", "\"inf\""), "write_type_mismatch");
    EXPECT_EQ(code("w/text", R"("123456789")"), "write_too_long");
    EXPECT_EQ(code("w/text", "5"), "write_type_mismatch");
    EXPECT_EQ(code("w/list", "[1,2]"), "write_type_mismatch");
    EXPECT_EQ(code("w/list", "[1,2,3,4]"), "write_too_long");
    EXPECT_EQ(code("w/list", "[1,2,70000]"), "write_out_of_range");
    EXPECT_EQ(code("w/list", "1"), "write_type_mismatch");
    EXPECT_EQ(code("w/texts", R"(["ab","vwxyz"])"), "write_too_long");
    EXPECT_EQ(code("w/time", R"("2024-02-30T00:00:00Z")"), "write_out_of_range");
    EXPECT_EQ(code("w/time", R"("yesterday")"), "write_type_mismatch");
    EXPECT_EQ(code("w/bytes", R"("AQIDBAU=")"), "write_too_long");
    EXPECT_EQ(code("w/bytes", R"("!!!!")"), "write_type_mismatch");
    EXPECT_EQ(put("press/count", "1").status, 409);
    EXPECT_EQ(put("w/none", "1").status, 404);
    EXPECT_FALSE(above.writes.refused.empty());
}

TEST_F(write_test, the_status_is_that_of_the_outcome) {
    auto& connection = connect();
    const auto outcome_is = [&](write_ending ending, std::uint16_t status, int device_code) {
        connection.send(body_request("PUT", "/api/v1/values/w/int", R"({"value":1})", as_operator),
                        now());
        write_result& result = *above.writes.calls.at(0).results.at(0);
        result.ending = ending;
        result.http_status = status;
        result.status = 0x80310000;
        result.status_name = "BadNoCommunication";
        result.code = "some_code";
        result.reason = "some words";
        result.remedy = "some remedy";
        result.device_code = device_code;
        result.bytes_written = 7;
        above.writes.finish(now());
        connection.turn(now());
        std::string wire = connection.take();
        return take_answers(wire).at(0);
    };
    answer got = outcome_is(write_ending::not_sent, 503, -1);
    EXPECT_EQ(got.status, 503);
    EXPECT_EQ(got.field("retry-after"), "1");
    EXPECT_EQ(got.json(), json::parse(R"({"type":"urn:tagferry:problem:some_code",
        "code":"some_code","title":"Service Unavailable","status":503,"detail":"some words",
        "hint":"some remedy","subject":"w/int","outcome":"not_sent",
        "opcua_status":"BadNoCommunication"})"));
    got = outcome_is(write_ending::answered, 502, 5);
    EXPECT_EQ(got.status, 502);
    EXPECT_EQ(got.json()["device_code"], "0x05");
    got = outcome_is(write_ending::unknown, 504, -1);
    EXPECT_EQ(got.status, 504);
    EXPECT_EQ(got.json()["outcome"], "unknown");
    got = outcome_is(write_ending::partial, 502, 0x8104);
    EXPECT_EQ(got.json()["bytes_written"], 7);
    EXPECT_EQ(got.json()["device_code"], "0x8104");
}

TEST_F(write_test, several_writes_have_a_result_each_in_their_order) {
    const answer got = send("POST", "/api/v1/values:write", R"({"reason":"shift","items":[
        {"path":"w/int","value":1},{"value":true,"path":"press\/count"},
        {"path":"w/none","value":null},{"path":"w/real","value":2.5}]})");
    EXPECT_EQ(got.status, 200);
    const json results = got.json()["results"];
    ASSERT_EQ(results.size(), 4U);
    EXPECT_EQ(results[0]["ok"], true);
    EXPECT_EQ(results[1]["path"], "press/count");
    EXPECT_EQ(results[1]["ok"], false);
    EXPECT_EQ(results[1]["code"], "write_read_only");
    EXPECT_EQ(results[1]["remedy"], "write something else");
    EXPECT_EQ(results[2]["code"], "tag_removed");
    EXPECT_EQ(results[3]["ok"], true);
    ASSERT_EQ(written.size(), 1U);
    EXPECT_EQ(written[0].paths, (std::vector<std::string>{"w/int", "w/real"}));
    EXPECT_EQ(written[0].values[1], bytes_of(2.5F));
    EXPECT_EQ(written[0].reason, "shift");
    // Nothing to pass on: answered at once.
    EXPECT_EQ(send("POST", "/api/v1/values:write", R"({"items":[{"path":"a","value":1}]})")
                  .json()["results"][0]["ok"],
              false);
}

TEST_F(write_test, a_batch_of_the_largest_size_is_answered_whole) {
    options.limits.output_slots = 8;
    options.limits.connection_output_slots = 6;
    options.limits.output_high_water_slots = 2;
    options.limits.stream_high_water_slots = 2;
    options.limits.output_slot_size = 4096;
    std::string items;
    for (std::size_t i = 0; i < writes::max_items; ++i) {
        items += R"({"path":"w/int","value":)" + std::to_string(i) + "},";
    }
    items.pop_back();
    const answer got = send("POST", "/api/v1/values:write", "{\"items\":[" + items + "]}");
    EXPECT_EQ(got.json()["results"].size(), writes::max_items);
    const answer over = send("POST", "/api/v1/values:write",
                             "{\"items\":[" + items + ",{\"path\":\"w/int\",\"value\":1}]}");
    EXPECT_EQ(over.status, 400);
    EXPECT_EQ(over.json()["code"], "too_many_items");
}

TEST_F(write_test, bodies_that_are_none_are_refused_whole) {
    const auto status = [&](std::string_view body) {
        return send("PUT", "/api/v1/values/w/int", body).status;
    };
    for (const std::string_view body :
         {"", "5", "[]", "{", "{}", R"({"value":})", R"({"value":1}x)", R"({"value":1,"value":2})",
          R"({"value":1,"other":2})", R"({"value":1,"reason":5})", R"({"value":01})",
          "{\"value\":\"\xFF\"}", R"({"value":"\ud8"})", R"({"value":1,})"}) {
        EXPECT_EQ(status(body), 400) << body;
    }
    const auto pointer = [&](std::string_view body) {
        const answer got = send("POST", "/api/v1/values:write", body);
        EXPECT_EQ(got.status, 400) << body;
        const json said = got.json();
        return said.contains("errors") ? said["errors"][0]["pointer"].get<std::string>() : "";
    };
    EXPECT_EQ(pointer(R"({"items":[]})"), "/items");
    EXPECT_EQ(pointer(R"({"items":5})"), "/items");
    EXPECT_EQ(pointer(R"({"items":[5]})"), "/items");
    EXPECT_EQ(pointer(R"({"items":[{"path":"a"}]})"), "/items");
    EXPECT_EQ(pointer(R"({"items":[{"path":"a","value":1,"path":"b"}]})"), "/items");
    EXPECT_EQ(pointer(R"({"items":[{"path":"a","value":1}],"reason":1})"), "/reason");
    EXPECT_EQ(pointer(R"({"items":[{"path":"a","value":1}]}})"), "");
    EXPECT_TRUE(above.writes.calls.empty());
}

TEST_F(write_test, only_json_is_taken_for_json) {
    const auto status = [&](std::string_view type) {
        return send("PUT", "/api/v1/values/w/int", R"({"value":1})",
                    "Authorization: bearer operator-token\r\n" + std::string(type))
            .status;
    };
    EXPECT_EQ(status(""), 200);
    EXPECT_EQ(status("Content-Type: Application/JSON; charset=utf-8\r\n"), 200);
    EXPECT_EQ(status("Content-Type: text/plain\r\n"), 415);
    EXPECT_EQ(status("Content-Type: application/x-www-form-urlencoded\r\n"), 415);
}

TEST_F(write_test, who_may_write) {
    const auto tried = [&](std::string_view fields) {
        return send("PUT", "/api/v1/values/w/int", R"({"value":1})", fields);
    };
    answer got = tried({});
    EXPECT_EQ(got.status, 401);
    EXPECT_EQ(got.field("www-authenticate"), "Bearer realm=\"tagferry\"");
    EXPECT_EQ(tried("Authorization: Bearer viewer-token\r\n").status, 403);
    EXPECT_EQ(tried("Authorization: Bearer wrong\r\n").json()["code"], "invalid_token");
    EXPECT_EQ(tried("Authorization: Basic b3BlcmF0b3I6eA==\r\n").status, 401);
    EXPECT_EQ(tried("Authorization: Bearer\r\n").status, 401);
    EXPECT_EQ(tried("Authorization: BEARER  operator-token \r\n").status, 200);
    // A wrong credential is not passed over where none is needed, but for the probes.
    EXPECT_EQ(get("/api/v1/values/press/count", "GET", "Authorization: Bearer wrong\r\n").status,
              401);
    EXPECT_EQ(get("/healthz", "GET", "Authorization: Bearer wrong\r\n").status, 200);
    // A credential holds for its request only.
    auto& connection = connect();
    connection.send(request("/api/v1/tags", "GET", "Authorization: Bearer operator-token\r\n") +
                        body_request("PUT", "/api/v1/values/w/int", R"({"value":1})", {}),
                    now());
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).at(1).status, 401);
}

TEST_F(write_test, a_busy_backend_and_an_asker_that_leaves) {
    above.writes.answer = outcome::busy;
    EXPECT_EQ(put("w/int", "1").status, 503);
    above.writes.answer = outcome::deferred;
    auto& connection = connect();
    connection.send(body_request("PUT", "/api/v1/values/w/int", R"({"value":1})", as_operator),
                    now());
    connection.cut(now());
    EXPECT_EQ(above.writes.abandoned, 1U);
}

TEST_F(write_test, names_that_are_not_this_servers_are_refused) {
    const auto status = [&](std::string_view host, std::string_view target = "/api/v1/tags") {
        const std::string wire =
            "GET " + std::string(target) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n";
        return statuses(wire).at(0);
    };
    for (const std::string_view own :
         {"127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "192.0.2.7", "localhost", "LOCALHOST:1",
          "a.localhost", "localhost.", "x", "X:80"}) {
        EXPECT_EQ(status(own), 200) << own;
    }
    for (const std::string_view foreign :
         {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.example",
          "notlocalhost", "1.2.3", "y"}) {
        EXPECT_EQ(status(foreign), 421) << foreign;
    }
    EXPECT_EQ(status("evil.example", "/healthz"), 200);
    EXPECT_EQ(status("evil.example", "/"), 421);
}

TEST_F(write_test, refused_requests_are_logged) {
    get("/api/v1/values?limit=0");
    get("/api/v1/values/w/int", "PUT");
    exchange_raw("nonsense\r\n\r\n");
    get("/api/v1/values/none");
    EXPECT_EQ(above.requests.lines,
              (std::vector<std::string>{"400 GET /api/v1/values invalid_parameter",
                                        "401 PUT /api/v1/values/w/int unauthorized",
                                        "400   malformed_request"}));
}

TEST_F(write_test, lists_are_not_sent_again_while_nothing_changed) {
    const answer first = get("/api/v1/tags");
    const std::string tag = first.field("etag");
    EXPECT_EQ(tag, "\"11\"");
    EXPECT_EQ(first.field("cache-control"), "no-cache");
    EXPECT_EQ(get("/api/v1/tags", "GET", "If-None-Match: " + tag + "\r\n").status, 304);
    EXPECT_EQ(get("/api/v1/browse", "GET", "If-None-Match: " + tag + "\r\n").status, 304);
    EXPECT_EQ(get("/api/v1/values").field("etag"), "");
    ++above.values.model_revision;
    EXPECT_EQ(get("/api/v1/tags", "GET", "If-None-Match: " + tag + "\r\n").status, 200);
}

TEST_F(write_test, the_description_names_every_route_and_no_other) {
    const json document = get("/api/v1/openapi.json").json();
    std::map<std::string, std::vector<std::string>> described;
    for (const auto& [path, methods] : document["paths"].items()) {
        std::string target = path;
        for (const std::string_view variable : {"{path}", "{name}"}) {
            const std::size_t at = target.find(variable);
            if (at != std::string::npos) {
                target.replace(at, variable.size(), "any");
            }
        }
        const answer options_of = get(target, "OPTIONS");
        EXPECT_EQ(options_of.status, 204) << target;
        const std::string allow = options_of.field("allow");
        for (const std::string method : {"GET", "PUT", "POST", "PATCH", "DELETE"}) {
            std::string lower = method;
            std::ranges::transform(lower, lower.begin(),
                                   [](unsigned char c) { return std::tolower(c); });
            EXPECT_EQ(methods.contains(lower), allow.find(method) != std::string::npos)
                << method << ' ' << path;
        }
        described[path] = {};
    }
    for (const auto& family : serve().request_metrics().Collect()) {
        for (const auto& metric : family.metric) {
            for (const auto& label : metric.label) {
                if (label.name == "handler" && label.value != "unmatched") {
                    EXPECT_TRUE(described.contains(label.value)) << label.value;
                }
            }
        }
    }
}

}  // namespace
}  // namespace tagferry::web::testing
