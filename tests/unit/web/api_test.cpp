// The REST read side: paths, rows, lists, pages, problems.
#include "tests/unit/web/web_fixture.hpp"

namespace tagferry::web::testing {
namespace {

using api_test = web_test;

std::vector<std::string> paths_of(const nlohmann::json& list) {
    std::vector<std::string> paths;
    for (const auto& item : list["items"]) {
        paths.push_back(item["path"]);
    }
    return paths;
}

TEST_F(api_test, a_value_row_has_exactly_these_fields) {
    const auto got = get("/api/v1/values/press/tank/level").json();
    EXPECT_EQ(got, nlohmann::json::parse(R"({
        "path": "press/tank/level", "value": 1.5, "status": "Good", "reason": null,
        "source_timestamp": "2023-11-14T22:13:20.250Z",
        "server_timestamp": "2023-11-14T22:13:21Z"})"));
}

TEST_F(api_test, paths_with_literal_or_encoded_slashes_and_in_any_script) {
    EXPECT_EQ(get("/api/v1/values/press/tank/level").status, 200);
    EXPECT_EQ(get("/api/v1/values/press%2Ftank%2flevel").status, 200);
    EXPECT_EQ(get("/api/v1/values/press/m%C3%BChle").json()["value"], true);
    EXPECT_EQ(get("/api/v1/values/press/m\xC3\xBChle").json()["path"], "press/m\xC3\xBChle");
    // A slash inside a name is an escape of the path itself and so is encoded twice.
    EXPECT_EQ(get("/api/v1/values/oven/a%252Fb").json()["value"], "x \"y\" \n");
    EXPECT_EQ(get("/api/v1/values/oven/a%2Fb").status, 404);
}

TEST_F(api_test, a_value_that_is_not_good_says_why_and_what_was_last) {
    auto& tag = above.values.tags[4];
    auto got = get("/api/v1/values/oven/dead").json();
    EXPECT_EQ(got["value"], nullptr);
    EXPECT_EQ(got["status"], "BadNoCommunication");
    EXPECT_EQ(got["reason"], "The device does not answer.");
    EXPECT_FALSE(got.contains("last_good"));
    tag.type = value_type::int32;
    tag.last_good = bytes_of(std::int32_t{42});
    tag.source_timestamp = 0;
    got = get("/api/v1/values/oven/dead").json();
    EXPECT_EQ(got["value"], nullptr);
    EXPECT_EQ(got["source_timestamp"], nullptr);
    EXPECT_EQ(got["last_good"],
              nlohmann::json::parse(R"({"value":42,"source_timestamp":"2023-11-14T22:13:19Z"})"));
    tag.status = 0;
    EXPECT_FALSE(get("/api/v1/values/oven/dead").json().contains("last_good"));
}

TEST_F(api_test, what_is_not_there_or_not_allowed_is_a_problem) {
    above.values.tags[1].hidden = true;
    const answer missing = get("/api/v1/values/press/nothing");
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.field("content-type"), "application/problem+json");
    const auto json = missing.json();
    EXPECT_EQ(json["type"], "urn:tagferry:problem:not_found");
    EXPECT_EQ(json["title"], "Not Found");
    EXPECT_EQ(json["status"], 404);
    EXPECT_EQ(json["subject"], "press/nothing");
    EXPECT_TRUE(json.contains("detail"));
    EXPECT_TRUE(json.contains("hint"));
    EXPECT_EQ(get("/api/v1/values/press/count").status, 403);
    EXPECT_EQ(get("/api/v2/values").json()["subject"], "/api/v2/values");
}

TEST_F(api_test, nobody_gets_values_where_a_credential_is_needed) {
    options.anonymous_role = role::none;
    EXPECT_EQ(get("/api/v1/values/press/count").status, 401);
    EXPECT_EQ(get("/metrics").status, 401);
    EXPECT_EQ(get("/healthz").status, 200);
    EXPECT_EQ(get("/readyz").status, 200);
}

TEST_F(api_test, named_values_come_in_the_order_asked) {
    above.values.tags[0].hidden = true;
    const auto got =
        get("/api/v1/values?tag=oven%2Fa%252Fb&tag=nowhere&tag=press/count&tag=press/tank/level")
            .json();
    EXPECT_EQ(paths_of(got), (std::vector<std::string>{"oven/a%2Fb", "nowhere", "press/count",
                                                       "press/tank/level"}));
    EXPECT_EQ(got["items"][1]["status"], "BadNodeIdUnknown");
    EXPECT_EQ(got["items"][1]["value"], nullptr);
    EXPECT_EQ(got["items"][2]["value"], -7);
    EXPECT_EQ(got["items"][3]["status"], "BadUserAccessDenied");
    EXPECT_EQ(got["next"], nullptr);
}

TEST_F(api_test, values_by_pattern) {
    EXPECT_EQ(paths_of(get("/api/v1/values?filter=press/*").json()),
              (std::vector<std::string>{"press/count", "press/m\xC3\xBChle"}));
    EXPECT_EQ(get("/api/v1/values?filter=press/**").json()["items"].size(), 3U);
    EXPECT_EQ(get("/api/v1/values").json()["items"].size(), 5U);
    EXPECT_EQ(get("/api/v1/values?filter=none").json(),
              nlohmann::json::parse(R"({"items":[],"next":null})"));
}

TEST_F(api_test, pages_join_to_the_whole) {
    for (const std::string resource : {"values", "tags"}) {
        const auto whole = paths_of(get("/api/v1/" + resource).json());
        for (const int limit : {1, 2, 4, 5, 6}) {
            std::vector<std::string> joined;
            std::string cursor;
            for (;;) {
                const auto page = get("/api/v1/" + resource + "?limit=" + std::to_string(limit) +
                                      (cursor.empty() ? "" : "&cursor=" + cursor))
                                      .json();
                const auto paths = paths_of(page);
                EXPECT_LE(paths.size(), static_cast<std::size_t>(limit));
                EXPECT_FALSE(paths.empty());
                joined.insert(joined.end(), paths.begin(), paths.end());
                if (page["next"].is_null()) {
                    break;
                }
                cursor = page["next"];
            }
            EXPECT_EQ(joined, whole) << resource << limit;
        }
    }
}

TEST_F(api_test, wrong_parameters_are_named) {
    const auto subject = [&](const std::string& target) {
        const answer got = get(target);
        EXPECT_EQ(got.status, 400) << target;
        return got.status == 400 ? got.json()["subject"].get<std::string>() : "";
    };
    EXPECT_EQ(subject("/api/v1/values?limit=0"), "limit");
    EXPECT_EQ(subject("/api/v1/values?limit=1001"), "limit");
    EXPECT_EQ(subject("/api/v1/values?limit=ten"), "limit");
    EXPECT_EQ(subject("/api/v1/values?cursor=%22"), "cursor");
    EXPECT_EQ(subject("/api/v1/values?colour=red"), "colour");
    EXPECT_EQ(subject("/api/v1/values?tag=%zz"), "tag");
    EXPECT_EQ(subject("/api/v1/values?tag=a&filter=b"), "filter");
    EXPECT_EQ(subject("/api/v1/values?filter=b&max_age=0"), "max_age");
    EXPECT_EQ(subject("/api/v1/values/press/count?max_age=soon"), "max_age");
    EXPECT_EQ(subject("/api/v1/values/press/count?max_age=-1"), "max_age");
    EXPECT_EQ(subject("/api/v1/values/press/count?max_age=nan"), "max_age");
    EXPECT_EQ(subject("/api/v1/tags?tag=a"), "tag");
    EXPECT_EQ(subject("/api/v1/browse?filter=a"), "filter");
    std::string many = "/api/v1/values?tag=a";
    for (std::size_t i = 0; i < options.limits.tags_per_request; ++i) {
        many += "&tag=a";
    }
    EXPECT_EQ(subject(many), "tag");
}

TEST_F(api_test, max_age_asks_the_device) {
    auto& connection = connect();
    connection.send(
        request("/api/v1/values?tag=press/count&tag=nowhere&tag=oven/dead&max_age=500ms"), now());
    ASSERT_EQ(above.values.refreshes.size(), 1U);
    const auto refresh = above.values.refreshes[0];
    EXPECT_EQ(refresh.max_age, std::chrono::milliseconds(500));
    ASSERT_EQ(refresh.tags.size(), 2U);
    EXPECT_EQ(refresh.tags[1].index, 4U);
    refresh.sink->resume(refresh.token, static_cast<std::uint32_t>(outcome::done), now());
    connection.turn(now());
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).at(0).json()["items"].size(), 3U);
    above.values.refresh_answer = outcome::done;
    EXPECT_EQ(get("/api/v1/values/press/count?max_age=2").status, 200);
    above.values.refresh_answer = outcome::busy;
    const answer busy = get("/api/v1/values/press/count?max_age=0");
    EXPECT_EQ(busy.status, 503);
    EXPECT_EQ(busy.field("retry-after"), "1");
}

TEST_F(api_test, a_device_read_that_times_out_is_504) {
    auto& connection = connect();
    connection.send(request("/api/v1/values/press/count?max_age=0"), now());
    const auto refresh = above.values.refreshes.at(0);
    refresh.sink->resume(refresh.token, static_cast<std::uint32_t>(outcome::timed_out), now());
    connection.turn(now());
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).at(0).status, 504);
}

TEST_F(api_test, large_lists_are_streamed_in_chunks) {
    for (int i = 0; i < 3000; ++i) {
        above.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                     .type = value_type::int32,
                                     .bytes = bytes_of(std::int32_t{i})});
    }
    const answer got = get("/api/v1/values?limit=1000&filter=mill/*");
    EXPECT_TRUE(got.chunked);
    const auto json = got.json();
    ASSERT_EQ(json["items"].size(), 1000U);
    EXPECT_EQ(json["items"][999]["value"], 999);
    EXPECT_TRUE(json["next"].is_string());
    const answer head = get("/api/v1/values?limit=1000", "HEAD");
    EXPECT_EQ(head.field("transfer-encoding"), "chunked");
    auto& old = connect();
    old.send("GET /api/v1/values?limit=1000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", now());
    std::string wire = old.take();
    EXPECT_TRUE(old.ended());
    const auto answers = take_answers(wire);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].field("connection"), "close");
    EXPECT_EQ(answers[0].json()["items"].size(), 1000U);
}

TEST_F(api_test, a_stream_waits_for_a_slow_reader_with_bounded_memory) {
    for (int i = 0; i < 2000; ++i) {
        above.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                     .type = value_type::int32,
                                     .bytes = bytes_of(std::int32_t{i})});
    }
    auto& connection = connect();
    connection.accept_writes(false);
    connection.send(request("/api/v1/values?limit=1000"), now());
    connection.turn(now());
    const std::uint64_t reads = above.values.reads;
    connection.turn(now());
    EXPECT_EQ(above.values.reads, reads);
    EXPECT_LT(reads, 900U);
    connection.accept_writes(true);
    connection.turn(now());
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).at(0).json()["items"].size(), 1000U);
}

TEST_F(api_test, a_walk_that_finds_little_yields_and_goes_on) {
    above.values.steps_before_later = 2;
    auto& connection = connect();
    connection.send(request("/api/v1/values?filter=oven/dead"), now());
    EXPECT_EQ(above.values.reads, 0U);
    int rounds = 0;
    while (above.execution.run_one(now())) {
        connection.turn(now());
        ++rounds;
    }
    EXPECT_GE(rounds, 2);
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).at(0).json()["items"].size(), 1U);
    // Cut while in the queue: the queue forgets it.
    auto& cut = connect();
    cut.send(request("/api/v1/values?filter=oven/dead"), now());
    cut.cut(now());
    EXPECT_TRUE(above.execution.run_one(now()));
}

TEST_F(api_test, a_large_array_is_answered_whole) {
    above.values.largest = 64 * 1024;
    above.values.tags.push_back({.path = "mill/table",
                                 .type = value_type::uint8,
                                 .array_length = 60'000,
                                 .bytes = std::vector<std::byte>(60'000, std::byte{255})});
    const answer got = get("/api/v1/values/mill/table");
    EXPECT_FALSE(got.chunked);
    EXPECT_EQ(got.json()["value"].size(), 60'000U);
    EXPECT_EQ(get("/api/v1/values?tag=press/count&tag=mill/table&tag=press/count")
                  .json()["items"][1]["value"]
                  .size(),
              60'000U);
}

TEST_F(api_test, a_value_too_large_for_an_answer_says_so) {
    options.limits.connection_output_slots = 5;
    above.values.largest = 64 * 1024;
    above.values.tags.push_back({.path = "mill/table",
                                 .type = value_type::uint8,
                                 .array_length = 60'000,
                                 .bytes = std::vector<std::byte>(60'000, std::byte{255})});
    const auto got = get("/api/v1/values?tag=press/count&tag=mill/table&tag=oven/dead").json();
    ASSERT_EQ(got["items"].size(), 3U);
    EXPECT_EQ(got["items"][1]["status"], "BadEncodingLimitsExceeded");
    EXPECT_EQ(got["items"][2]["status"], "BadNoCommunication");
    EXPECT_EQ(get("/api/v1/values/mill/table").status, 503);
}

TEST_F(api_test, tags_say_what_they_are) {
    above.values.tags[1].description = "pieces";
    const auto got = get("/api/v1/tags/press/count").json();
    EXPECT_EQ(got, nlohmann::json::parse(R"({
        "path": "press/count", "node_id": "ns=3;s=press/count", "type": "int32",
        "address": "DB1.DBD0", "access": "read", "scan_class": "fast", "unit": null,
        "description": "pieces"})"));
    EXPECT_EQ(get("/api/v1/tags/none").status, 404);
    EXPECT_EQ(get("/api/v1/tags?filter=press/count").json()["items"].size(), 1U);
}

TEST_F(api_test, browse_gives_the_children) {
    const auto root = get("/api/v1/browse").json();
    ASSERT_EQ(root["items"].size(), 2U);
    EXPECT_EQ(root["items"][0]["name"], "press");
    EXPECT_EQ(root["items"][0]["kind"], "connection");
    EXPECT_EQ(root["items"][0]["has_children"], true);
    EXPECT_EQ(get("/api/v1/browse/").json(), root);
    EXPECT_EQ(paths_of(get("/api/v1/browse/oven").json()),
              (std::vector<std::string>{"oven/a%2Fb", "oven/dead"}));
    const auto page = get("/api/v1/browse/oven?limit=1").json();
    ASSERT_TRUE(page["next"].is_string());
    EXPECT_EQ(paths_of(get("/api/v1/browse/oven?cursor=" + page["next"].get<std::string>()).json()),
              std::vector<std::string>{"oven/dead"});
    EXPECT_EQ(get("/api/v1/browse/none").status, 404);
}

TEST_F(api_test, connections_say_how_they_are) {
    above.connections.rows.push_back({.name = "press",
                                      .protocol = "s7",
                                      .endpoint = "192.0.2.10:102",
                                      .state = "waiting",
                                      .reason = "Connection refused.",
                                      .up = false,
                                      .connect_failures = 3,
                                      .tags = 3,
                                      .tags_bad = 3});
    const auto list = get("/api/v1/connections").json();
    ASSERT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(list["items"][0]["state"], "waiting");
    EXPECT_EQ(list["items"][0]["reason"], "Connection refused.");
    EXPECT_EQ(list["items"][0]["connect_failures"], 3);
    EXPECT_EQ(list["items"][0]["tags"]["bad"], 3);
    EXPECT_EQ(get("/api/v1/connections/press").json(), list["items"][0]);
    EXPECT_EQ(get("/api/v1/connections/mill").status, 404);
}

TEST_F(api_test, status_says_the_whole_gateway_in_numbers) {
    overview_row& row = above.overview.row;
    row.now = 1'700'000'000'250'000'000;
    row.revision = 3;
    row.connections = 2;
    row.connections_up = 1;
    row.tags_good = 20;
    row.tags_bad = 24;
    row.opcua_sessions = 5;
    row.reads.operations = 7;
    row.reads.duration_sum_s = 0.5;
    row.reads.duration_buckets.back() = 7;
    const auto said = get("/api/v1/status").json();
    EXPECT_EQ(said["now"], "2023-11-14T22:13:20.250Z");
    EXPECT_EQ(said["version"], "1.2.3");
    EXPECT_EQ(said["revision"], 3);
    EXPECT_EQ(said["connections"], nlohmann::json({{"total", 2}, {"up", 1}}));
    EXPECT_EQ(said["tags"],
              nlohmann::json({{"total", 44}, {"good", 20}, {"uncertain", 0}, {"bad", 24}}));
    EXPECT_EQ(said["opcua"]["endpoints"], nlohmann::json::array({"opc.tcp://192.0.2.1:4840"}));
    EXPECT_EQ(said["opcua"]["sessions"], 5);
    EXPECT_EQ(said["reads"]["operations"], 7);
    EXPECT_EQ(said["reads"]["seconds"], 0.5);
    const auto& buckets = said["reads"]["buckets"];
    ASSERT_EQ(buckets.size(), transport::operation_duration_bounds_s.size() + 1);
    EXPECT_EQ(buckets.front(), nlohmann::json({1e-6, 0}));
    EXPECT_EQ(buckets.back(), nlohmann::json({nullptr, 7}));
}

TEST_F(api_test, probes) {
    EXPECT_EQ(get("/healthz").json()["status"], "ok");
    EXPECT_EQ(get("/readyz").json()["status"], "ready");
    EXPECT_EQ(get("/api/v1/version").json()["version"], "1.2.3");
    above.identity.is_ready = false;
    above.identity.is_healthy = false;
    EXPECT_EQ(get("/readyz").status, 503);
    EXPECT_EQ(get("/readyz").json()["detail"], "OPC UA does not listen.");
    EXPECT_EQ(get("/healthz").status, 503);
}

}  // namespace
}  // namespace tagferry::web::testing
