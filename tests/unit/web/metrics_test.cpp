// `/metrics`: made on a worker, in order with everything else on its connection.
#include "tests/unit/web/web_fixture.hpp"

namespace tagferry::web::testing {
namespace {

class metrics_test : public web_test {
  protected:
    answer scrape(std::string_view method = "GET") {
        auto& connection = connect();
        connection.send(request("/metrics", method), now());
        EXPECT_EQ(connection.take(), "");
        while (above.execution.run_one(now())) {
        }
        connection.turn(now());
        std::string wire = connection.take();
        auto answers = take_answers(wire, method == "HEAD");
        EXPECT_EQ(answers.size(), 1U);
        return answers.empty() ? answer{} : answers.front();
    }
};

TEST_F(metrics_test, text_format_with_our_own_counters) {
    get("/api/v1/values/press/count");
    get("/api/v1/values/press/none");
    get("/nowhere/at/all");
    const answer got = scrape();
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.field("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_NE(got.body.find("tagferry_fake_total{index=\"2\"} 2"), std::string::npos);
    const auto line = [&](std::string_view handler, std::string_view code) {
        const std::string one = "tagferry_http_requests_total{handler=\"" + std::string(handler) +
                                "\",code=\"" + std::string(code) + "\"} 1\n";
        const std::string other = "tagferry_http_requests_total{code=\"" + std::string(code) +
                                  "\",handler=\"" + std::string(handler) + "\"} 1\n";
        return got.body.find(one) != std::string::npos || got.body.find(other) != std::string::npos;
    };
    EXPECT_TRUE(line("/api/v1/values/{path}", "200"));
    EXPECT_TRUE(line("/api/v1/values/{path}", "404"));
    EXPECT_TRUE(line("unmatched", "404"));
    EXPECT_NE(got.body.find("tagferry_http_request_duration_seconds_bucket"), std::string::npos);
    // Paths of requests never become labels.
    EXPECT_EQ(got.body.find("press"), std::string::npos);
    EXPECT_EQ(got.body.find("nowhere"), std::string::npos);
}

TEST_F(metrics_test, a_large_page_has_a_length_and_arrives_whole) {
    above.metrics.series = 20'000;
    const answer got = scrape();
    EXPECT_FALSE(got.chunked);
    EXPECT_EQ(got.field("content-length"), std::to_string(got.body.size()));
    EXPECT_GT(got.body.size(), 500'000U);
    EXPECT_NE(got.body.find("{index=\"19999\"} 19999\n"), std::string::npos);
    const answer head = scrape("HEAD");
    EXPECT_GT(std::stoul(head.field("content-length")), 500'000U);
    // The scrape of HEAD is free again, too.
    EXPECT_EQ(scrape().status, 200);
    EXPECT_EQ(scrape().status, 200);
}

TEST_F(metrics_test, a_request_behind_a_scrape_waits_its_turn) {
    auto& connection = connect();
    connection.send(request("/metrics") + request("/healthz"), now());
    EXPECT_EQ(connection.take(), "");
    EXPECT_TRUE(above.execution.run_one(now()));
    connection.turn(now());
    std::string wire = connection.take();
    const auto answers = take_answers(wire);
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].field("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_EQ(answers[1].body, "{\"status\":\"ok\"}");
}

TEST_F(metrics_test, scrapes_at_the_same_time_are_bounded) {
    auto& first = connect();
    auto& second = connect();
    first.send(request("/metrics"), now());
    second.send(request("/metrics"), now());
    EXPECT_EQ(get("/metrics").status, 503);
    while (above.execution.run_one(now())) {
    }
    // A collected page is held until it is sent.
    EXPECT_EQ(get("/metrics").status, 503);
    first.turn(now());
    second.turn(now());
    EXPECT_EQ(scrape().status, 200);
}

TEST_F(metrics_test, an_asker_that_left_frees_its_scrape_once_the_job_is_over) {
    auto& first = connect();
    auto& second = connect();
    first.send(request("/metrics"), now());
    second.send(request("/metrics"), now());
    first.cut(now());
    second.cut(now());
    EXPECT_EQ(get("/metrics").status, 503);
    while (above.execution.run_one(now())) {
    }
    EXPECT_EQ(scrape().status, 200);
}

TEST_F(metrics_test, a_full_worker_pool_is_503) {
    above.execution.full = true;
    EXPECT_EQ(get("/metrics").status, 503);
    above.execution.full = false;
    EXPECT_EQ(scrape().status, 200);
}

}  // namespace
}  // namespace tagferry::web::testing
