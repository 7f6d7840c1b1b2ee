// The stream: handshake, subscriptions, snapshots, deltas, conflation and how it ends.
#include "tests/unit/web/stream_fixture.hpp"

namespace tagferry::web::testing {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(stream_test, the_handshake_is_that_of_rfc_6455) {
    client made = open();
    EXPECT_EQ(made.upgrade.status, 101);
    EXPECT_EQ(made.upgrade.field("upgrade"), "websocket");
    EXPECT_EQ(made.upgrade.field("connection"), "Upgrade");
    EXPECT_EQ(made.upgrade.field("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(made.upgrade.field("sec-websocket-protocol"), "tagferry.v1.json");
    EXPECT_EQ(made.upgrade.field("sec-websocket-extensions"), "");
    const auto told = messages(made);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0], json::parse(R"({"op":"reasons","reasons":[
        [0,"fine",""],[7,"no \"cable\"","plug it in"]]})"));
}

TEST_F(stream_test, what_is_no_handshake_is_answered_in_http) {
    EXPECT_EQ(get("/api/v1/stream").status, 426);
    EXPECT_EQ(get("/api/v1/stream").field("sec-websocket-version"), "13");
    EXPECT_EQ(get("/api/v1/stream", "POST").status, 405);
    const auto status = [&](std::string text) {
        auto& connection = connect();
        connection.send(text, now());
        std::string wire = connection.take();
        const auto answers = take_answers(wire);
        return answers.empty() ? 0 : answers.front().status;
    };
    EXPECT_EQ(status(handshake({}, "tagferry.v2.json")), 400);
    EXPECT_EQ(status(handshake("Origin: http://evil.example\r\n")), 403);
    EXPECT_EQ(status(handshake("Origin: null\r\n")), 403);
    std::string old = handshake();
    old.replace(old.find("Version: 13"), 11, "Version: 8 ");
    EXPECT_EQ(status(old), 426);
    std::string key = handshake();
    key.replace(key.find("dGhl"), 4, "d!hl");
    EXPECT_EQ(status(key), 400);
}

TEST_F(stream_test, an_own_origin_may_open_it) {
    EXPECT_EQ(open("Origin: http://localhost\r\n").upgrade.status, 101);
    EXPECT_EQ(open("Origin: https://LOCALHOST\r\n").upgrade.status, 101);
}

TEST_F(stream_test, a_role_is_needed) {
    options.anonymous_role = role::none;
    auto& connection = connect();
    connection.send(handshake(), now());
    std::string wire = connection.take();
    EXPECT_EQ(take_answers(wire).at(0).status, 401);
}

TEST_F(stream_test, a_subscription_is_told_its_tags_then_their_values) {
    above.values.tags[4].reason_id = 7;
    client made = open_quietly();
    const auto told = ask(made, R"({"op":"subscribe","id":7,"tags":["press/**","oven/*"]})");
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0], json::parse(R"({"op":"subscribed","id":7,"more":false,"tags":[
        [0,"press/tank/level","float32",null],[1,"press/count","int32",null],
        [2,"press/mühle","boolean",null],[3,"oven/a%2Fb","string",null],
        [4,"oven/dead","none",null]]})"));
    EXPECT_EQ(told[1], json::parse(R"({"op":"snapshot","id":7,"seq":1,"more":false,"values":[
        [0,1.5,0,1700000000250],[1,-7,0,1700000000250],[2,true,0,1700000000250],
        [3,"x \"y\" \n",0,1700000000250],
        [4,null,"BadNoCommunication",1700000000250,7]]})"));
}

TEST_F(stream_test, tags_by_name_come_in_the_order_asked_and_once) {
    client made = open_quietly();
    const auto told = ask(made, R"({"op":"subscribe","id":1,"tags":
        ["press/count","oven/a%2Fb","press\/count","press/m\u00fchle"],"unknown":{"x":[1]}})");
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0]["tags"], json::parse(R"([[0,"press/count","int32",null],
        [1,"oven/a%2Fb","string",null],[2,"press/mühle","boolean",null]])"));
}

TEST_F(stream_test, a_change_is_told_after_the_interval_the_latest_wins) {
    client made = open_quietly();
    ask(made, R"({"op":"subscribe","id":3,"tags":["press/*"],"min_interval_ms":250})");
    set(1, std::int32_t{1});
    EXPECT_TRUE(messages(made).empty());
    set(1, std::int32_t{2});
    set(1, std::int32_t{3});
    run();
    pass(milliseconds(249));
    EXPECT_TRUE(messages(made).empty());
    pass(milliseconds(1));
    EXPECT_EQ(messages(made), std::vector{json::parse(R"({"op":"delta","id":3,"seq":2,
                  "values":[[0,3,0,1700000000250]],"conflated":2})")});
    // Nothing changed for a while: the next change is told at once.
    pass(seconds(1));
    EXPECT_TRUE(messages(made).empty());
    set(2, std::uint8_t{0});
    EXPECT_EQ(messages(made),
              std::vector{json::parse(
                  R"({"op":"delta","id":3,"seq":3,"values":[[1,false,0,1700000000250]]})")});
}

TEST_F(stream_test, a_value_without_source_timestamp_or_reason_is_short) {
    client made = open_quietly();
    above.values.tags[1].source_timestamp = 0;
    const auto told = ask(made, R"({"op":"subscribe","id":3,"tags":["press/count"]})");
    EXPECT_EQ(told.at(1)["values"], json::parse("[[0,-7]]"));
    above.values.tags[1].status = bad_no_communication;
    above.values.tags[1].status_name = "BadNoCommunication";
    above.values.tags[1].reason_id = 7;
    above.values.tags[1].type = value_type::none;
    pass(milliseconds(100));
    above.feed.mark(1);
    above.feed.tell(now());
    EXPECT_EQ(messages(made).at(0)["values"],
              json::parse(R"([[0,null,"BadNoCommunication",null,7]])"));
}

TEST_F(stream_test, an_uncertain_value_is_shown_and_a_bad_tag_has_none) {
    client made = open_quietly();
    ask(made, R"({"op":"subscribe","id":3,"tags":["press/count"]})");
    fake_tag& tag = above.values.tags[1];
    tag.status = 0x40900000;
    tag.status_name = "UncertainLastUsableValue";
    tag.reason_id = 9;
    const auto told = [&] {
        pass(milliseconds(100));
        above.feed.mark(1);
        above.feed.tell(now());
        return messages(made).at(0)["values"];
    };
    EXPECT_EQ(told(), json::parse(R"([[0,-7,"UncertainLastUsableValue",1700000000250,9]])"));
    tag.status = bad_no_communication;
    tag.status_name = "BadNoCommunication";
    EXPECT_EQ(told(), json::parse(R"([[0,null,"BadNoCommunication",1700000000250,9]])"));
}

TEST_F(stream_test, every_subscription_of_a_tag_is_told_and_no_other) {
    client one = open_quietly();
    client two = open_quietly();
    ask(one, R"({"op":"subscribe","id":1,"tags":["press/count"]})");
    ask(one, R"({"op":"subscribe","id":2,"tags":["press/*"]})");
    ask(two, R"({"op":"subscribe","id":1,"tags":["oven/*"]})");
    pass(seconds(1));
    set(1, std::int32_t{5});
    const auto told = messages(one);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_NE(told[0]["id"], told[1]["id"]);
    EXPECT_TRUE(messages(two).empty());
}

TEST_F(stream_test, after_unsubscribing_nothing_is_told_and_nothing_is_watched) {
    client made = open_quietly();
    ask(made, R"({"op":"subscribe","id":9,"tags":["press/count"]})");
    ask(made, R"({"op":"subscribe","id":8,"tags":["press/count"]})");
    EXPECT_TRUE(above.feed.watched[1]);
    EXPECT_EQ(ask(made, R"({"op":"unsubscribe","id":9})"),
              std::vector{json::parse(R"({"op":"unsubscribed","id":9})")});
    EXPECT_TRUE(above.feed.watched[1]);
    EXPECT_EQ(ask(made, R"({"op":"unsubscribe","id":9})").at(0)["code"], "unknown_id");
    ask(made, R"({"op":"unsubscribe","id":8})");
    EXPECT_FALSE(above.feed.watched[1]);
    // The id is free again.
    EXPECT_EQ(ask(made, R"({"op":"subscribe","id":9,"tags":["press/count"]})").at(1)["seq"], 1);
    made.connection->cut(now());
    run();
    EXPECT_FALSE(above.feed.watched[1]);
}

TEST_F(stream_test, what_cannot_be_subscribed_is_an_error_and_the_stream_goes_on) {
    above.values.tags[0].hidden = true;
    client made = open_quietly();
    const auto code = [&](std::string_view text) {
        const auto told = ask(made, text);
        EXPECT_EQ(told.size(), 1U) << text;
        EXPECT_EQ(told.at(0)["op"], "error") << text;
        return told.at(0)["code"].get<std::string>();
    };
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":["press/count","press/none"]})"),
              "not_found");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":["press/tank/level"]})"), "forbidden");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":[]})"), "invalid_argument");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1})"), "invalid_argument");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":"press/*"})"), "invalid_argument");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":["a",3]})"), "invalid_argument");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":[""]})"), "invalid_argument");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":["a\u0000"]})"), "invalid_argument");
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":["a"],"min_interval_ms":1.5})"),
              "invalid_argument");
    EXPECT_EQ(ask(made, R"({"op":"subscribe","id":1,"tags":["press/*"]})").size(), 2U);
    EXPECT_EQ(code(R"({"op":"subscribe","id":1,"tags":["press/*"]})"), "id_in_use");
    const auto missing = ask(made, R"({"op":"subscribe","id":2,"tags":["press/none"]})");
    EXPECT_EQ(missing.at(0)["subject"], "press/none");
    EXPECT_EQ(missing.at(0)["id"], 2);
}

TEST_F(stream_test, a_pattern_without_a_match_is_an_empty_subscription) {
    client made = open_quietly();
    const auto told = ask(made, R"({"op":"subscribe","id":1,"tags":["mill/*"]})");
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0]["tags"], json::array());
    EXPECT_EQ(told[1]["values"], json::array());
}

TEST_F(stream_test, long_subscriptions_come_in_several_messages) {
    for (int i = 0; i < 2000; ++i) {
        above.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                     .type = value_type::int32,
                                     .bytes = bytes_of(std::int32_t{i})});
    }
    client made = open_quietly();
    const auto told = ask(made, R"({"op":"subscribe","id":1,"tags":["mill/*","press/count"]})");
    std::size_t tags = 0;
    std::size_t values = 0;
    std::int64_t sequence = 0;
    for (const auto& message : told) {
        const bool described = message["op"] == "subscribed";
        for (const auto& entry : message[described ? "tags" : "values"]) {
            EXPECT_EQ(entry[0], described ? tags : values);
            ++(described ? tags : values);
        }
        if (!described) {
            EXPECT_EQ(message["seq"], ++sequence);
        }
        EXPECT_EQ(message["more"].get<bool>(), (described ? tags : values) != 2001U);
    }
    EXPECT_EQ(tags, 2001U);
    EXPECT_EQ(values, 2001U);
    EXPECT_GT(told.size(), 8U);
}

TEST_F(stream_test, a_client_that_does_not_read_gets_the_latest_and_is_sent_away_in_the_end) {
    for (int i = 0; i < 1000; ++i) {
        above.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                     .type = value_type::int32,
                                     .bytes = bytes_of(std::int32_t{i})});
    }
    client made = open_quietly();
    ask(made, R"({"op":"subscribe","id":1,"tags":["mill/*"]})");
    made.connection->accept_writes(false);
    for (int round = 0; round < 20; ++round) {
        for (std::uint32_t i = 5; i < 1005; ++i) {
            above.values.tags[i].bytes = bytes_of(std::int32_t{round});
            above.feed.mark(i);
        }
        above.feed.tell(now());
        pass(milliseconds(100));
    }
    EXPECT_FALSE(made.connection->closing());
    made.connection->accept_writes(true);
    std::map<int, json> latest;
    std::int64_t conflated = 0;
    std::size_t bytes = 0;
    for (const auto& frame : frames(made)) {
        bytes += frame.payload.size();
        const json message = json::parse(frame.payload);
        conflated += message.value("conflated", 0);
        for (const auto& entry : message["values"]) {
            latest[entry[0]] = entry[1];
        }
    }
    EXPECT_EQ(latest.size(), 1000U);
    for (const auto& [index, value] : latest) {
        EXPECT_EQ(value, 19) << index;
    }
    EXPECT_GT(conflated, 10'000);
    EXPECT_LT(bytes, 200'000U) << "what waits is bounded";
    // Slow for longer than the limit.
    made.connection->accept_writes(false);
    for (int round = 0; round < 150; ++round) {
        for (std::uint32_t i = 5; i < 1005; ++i) {
            above.feed.mark(i);
        }
        above.feed.tell(now());
        pass(milliseconds(100));
    }
    made.connection->accept_writes(true);
    made.connection->turn(now());
    const auto rest = frames(made);
    ASSERT_FALSE(rest.empty());
    EXPECT_EQ(rest.back().opcode, 8);
    EXPECT_EQ(close_code_of(rest.back()), 4429);
}

TEST_F(stream_test, a_changed_set_of_tags_is_told_once) {
    client made = open_quietly();
    ask(made, R"({"op":"subscribe","id":1,"tags":["press/*"]})");
    ask(made, R"({"op":"subscribe","id":2,"tags":["oven/*"]})");
    ask(made, R"({"op":"subscribe","id":3,"tags":["press/count"]})");
    // A model like the one before is no change.
    ++above.feed.changes_of_model;
    above.feed.tell(now());
    EXPECT_TRUE(messages(made).empty());
    above.values.tags.push_back(
        {.path = "press/new", .type = value_type::int32, .bytes = bytes_of(std::int32_t{1})});
    ++above.feed.changes_of_model;
    above.feed.tell(now());
    EXPECT_EQ(messages(made), std::vector{json::parse(R"({"op":"changed","id":1})")});
    EXPECT_TRUE(messages(made).empty());
    // What is said about a tag is part of it.
    above.values.tags[1].type = value_type::uint32;
    ++above.feed.changes_of_model;
    above.feed.tell(now());
    EXPECT_EQ(messages(made).size(), 2U);
}

TEST_F(stream_test, pings_are_answered_and_sent) {
    client made = open_quietly();
    made.connection->send(client_frame("hello", 9) + client_frame("", 9), now());
    auto told = frames(made);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].opcode, 10);
    EXPECT_EQ(told[0].payload, "hello");
    EXPECT_EQ(told[1].payload, "");
    pass(seconds(20));
    told = frames(made);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].opcode, 9);
    made.connection->send(client_frame("", 10), now());
    pass(seconds(59));
    EXPECT_FALSE(made.connection->closing());
    pass(seconds(1));
    EXPECT_TRUE(made.connection->ended());
}

TEST_F(stream_test, messages_may_come_in_pieces_with_pings_between) {
    client made = open_quietly();
    const std::string text = R"({"op":"subscribe","id":1,"tags":["press/count"]})";
    const std::string wire = client_frame(text.substr(0, 10), 1, false) + client_frame("x", 9) +
                             client_frame("", 0, false) + client_frame(text.substr(10), 0, true);
    for (const char byte : wire) {
        made.connection->send({&byte, 1}, now());
    }
    const auto told = frames(made);
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told[0].opcode, 10);
    EXPECT_EQ(json::parse(told[1].payload)["op"], "subscribed");
}

TEST_F(stream_test, requests_sent_together_are_answered_in_order) {
    client made = open_quietly();
    made.connection->send(client_frame(R"({"op":"subscribe","id":1,"tags":["press/*"]})") +
                              client_frame(R"({"op":"unsubscribe","id":1})") +
                              client_frame(R"({"op":"subscribe","id":1,"tags":["press/none"]})") +
                              client_frame(R"({"op":"subscribe","id":2,"tags":["press/count"]})"),
                          now());
    std::vector<std::string> words;
    for (const auto& message : messages(made)) {
        words.push_back(message["op"].get<std::string>() + message["id"].dump());
    }
    EXPECT_EQ(words,
              (std::vector<std::string>{"unsubscribed1", "error1", "subscribed2", "snapshot2"}));
}

TEST_F(stream_test, what_breaks_the_protocol_ends_it_with_its_code) {
    const std::string text = R"({"op":"unsubscribe","id":1})";
    EXPECT_EQ(closed_with(client_frame(text, 1, true, 7, false)), 1002) << "not masked";
    EXPECT_EQ(closed_with(client_frame(text, 3)), 1002) << "reserved opcode";
    EXPECT_EQ(closed_with(client_frame(text, 0x41)), 1002) << "reserved bit";
    EXPECT_EQ(closed_with(client_frame(text, 0)), 1002) << "nothing to continue";
    EXPECT_EQ(closed_with(client_frame("{", 1, false) + client_frame(text)), 1002);
    EXPECT_EQ(closed_with(client_frame(text, 1, true, 16)), 1002) << "a length too long";
    EXPECT_EQ(closed_with(client_frame(text, 1, true, 64)), 1002) << "a length too long";
    EXPECT_EQ(closed_with(client_frame("x", 9, false)), 1002) << "a ping in pieces";
    EXPECT_EQ(closed_with(client_frame(std::string(126, 'x'), 9)), 1002) << "a large ping";
    EXPECT_EQ(closed_with(client_frame("x", 8)), 1002) << "half a close code";
    EXPECT_EQ(closed_with(client_frame("\x03\xED", 8)), 1002) << "1005 is never sent";
    EXPECT_EQ(closed_with(client_frame("\x03\xE8\xFF", 8)), 1007) << "no UTF-8";
    EXPECT_EQ(closed_with(client_frame("\xFF\x01", 2)), 1003) << "binary";
    EXPECT_EQ(closed_with(client_frame("{\"op\":\"\xC3\x28\"}")), 1007) << "no UTF-8";
    EXPECT_EQ(closed_with(client_frame(std::string(33'000, ' '))), 1009);
    EXPECT_EQ(closed_with(client_frame(std::string(30'000, ' '), 1, false) +
                          client_frame(std::string(3'000, ' '), 0)),
              1009);
    EXPECT_EQ(closed_with(client_frame("hello")), 4400);
    EXPECT_EQ(closed_with(client_frame("[]")), 4400);
    EXPECT_EQ(closed_with(client_frame(R"({"op":"write","id":1})")), 4400);
    EXPECT_EQ(closed_with(client_frame(R"({"op":"subscribe","tags":["a"]})")), 4400);
    EXPECT_EQ(closed_with(client_frame(R"({"op":"unsubscribe","id":0})")), 4400);
    EXPECT_EQ(closed_with(client_frame(R"({"op":"unsubscribe","id":2147483648})")), 4400);
    EXPECT_EQ(closed_with(client_frame(text + "x")), 4400);
}

TEST_F(stream_test, a_close_is_answered_with_its_code) {
    EXPECT_EQ(closed_with(client_frame("\x03\xE8"
                                       "bye",
                                       8)),
              1000);
    EXPECT_EQ(closed_with(client_frame("\x0F\xA0", 8)), 4000);
    client made = open_quietly();
    made.connection->send(client_frame("", 8) + client_frame("ignored"), now());
    const auto told = frames(made);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].payload, "");
    EXPECT_TRUE(made.connection->ended());
}

TEST_F(stream_test, when_the_gateway_stops_everybody_is_told) {
    client one = open_quietly();
    client two = open_quietly();
    serve().close_streams();
    for (client* each : {&one, &two}) {
        const auto told = frames(*each);
        ASSERT_EQ(told.size(), 1U);
        EXPECT_EQ(close_code_of(told[0]), 1001);
        EXPECT_TRUE(each->connection->ended());
    }
    EXPECT_EQ(open().upgrade.status, 503);
}

TEST_F(stream_test, a_message_that_does_not_end_is_not_waited_for) {
    client made = open_quietly();
    made.connection->send(client_frame("{", 1, false), now());
    pass(seconds(9));
    made.connection->send(client_frame(" ", 0, false), now());
    EXPECT_FALSE(made.connection->closing());
    pass(seconds(1));
    const auto told = frames(made);
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(close_code_of(told.back()), 1002);
}

TEST_F(stream_test, the_limits_hold) {
    options.limits.stream_sockets = 2;
    options.limits.stream_subscriptions = 2;
    options.limits.stream_tags = 3;
    options.limits.stream_entries = 5;
    options.limits.stream_pattern_size = 16;
    client one = open_quietly();
    {
        client two = open_quietly();
        const answer third = open().upgrade;
        EXPECT_EQ(third.status, 503);
        EXPECT_EQ(third.field("retry-after"), "1");
        two.connection->cut(now());
    }
    EXPECT_EQ(ask(one, R"({"op":"subscribe","id":1,"tags":["**"]})").at(0)["code"],
              "too_many_tags");
    EXPECT_EQ(ask(one, R"({"op":"subscribe","id":1,"tags":["press/**"]})").size(), 2U);
    EXPECT_EQ(ask(one, R"({"op":"subscribe","id":2,"tags":["press/**"]})").at(0)["code"], "busy");
    EXPECT_EQ(ask(one, R"({"op":"subscribe","id":2,"tags":["oven/*"]})").size(), 2U);
    EXPECT_EQ(ask(one, R"({"op":"subscribe","id":3,"tags":["oven/*"]})").at(0)["code"],
              "too_many_subscriptions");
    EXPECT_EQ(ask(one, R"({"op":"subscribe","id":3,"tags":["a-long-pattern-*"]})").at(0)["code"],
              "invalid_argument");
    // Entries come back.
    ask(one, R"({"op":"unsubscribe","id":1})");
    EXPECT_EQ(ask(one, R"({"op":"subscribe","id":1,"tags":["press/**"]})").size(), 2U);
}

TEST_F(stream_test, an_interval_has_a_floor) {
    client made = open_quietly();
    ask(made, R"({"op":"subscribe","id":1,"tags":["press/*"],"min_interval_ms":0})");
    set(1, std::int32_t{1});
    run();
    pass(milliseconds(49));
    EXPECT_TRUE(messages(made).empty());
    pass(milliseconds(1));
    EXPECT_EQ(messages(made).size(), 1U);
}

TEST_F(stream_test, a_value_too_large_for_a_message_says_so) {
    above.values.largest = 64 * 1024;
    above.values.tags.push_back({.path = "mill/huge",
                                 .type = value_type::string,
                                 .bytes = counted_bytes_of(std::string(60'000, 'x'))});
    client made = open_quietly();
    const auto told = ask(made, R"({"op":"subscribe","id":1,"tags":["mill/huge","press/count"]})");
    EXPECT_EQ(told.at(1)["values"],
              json::parse(R"([[0,null,"BadEncodingLimitsExceeded",1700000000250],
                              [1,-7,0,1700000000250]])"));
}

}  // namespace
}  // namespace tagferry::web::testing
