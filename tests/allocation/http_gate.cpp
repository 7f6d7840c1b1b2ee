// HTTP in steady state allocates nothing: 10,000 answers to `GET` of one value, alone, pipelined
// and split, counted over the whole process; then lists, refusals and 404s, which have no operation
// kind of their own but are as frequent.

#include "tests/allocation/allocation_gate.hpp"
#include "tests/support/http_peer.hpp"
#include "tests/unit/web/fake_backend.hpp"
#include "web/http/operations.hpp"
#include "web/server.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tagferry::allocation {
namespace {

using namespace web::testing;

constexpr std::uint64_t warm_up = 1000;
constexpr std::uint64_t measured = 10'000;

class http_gate : public ::testing::Test {
  protected:
    http_gate() {
        above_.requests.keeps_lines = false;
        add_usual_tags(above_.values);
        for (int i = 0; i < 2000; ++i) {
            above_.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                          .type = web::value_type::float64,
                                          .bytes = bytes_of(0.1 * i)});
        }
        parts_.emplace(above_.parts());
        server_.emplace(web::server_options{}, *parts_, clock_);
    }

    static std::string get(std::string_view target) {
        return "GET " + std::string(target) +
               " HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: gate\r\nAccept: */*\r\n\r\n";
    }

    void expect_no_allocation(const std::string& request, std::size_t piece) {
        support::http_peer connection(*server_, clock_.now());
        for (std::uint64_t i = 0; i < warm_up; ++i) {
            ASSERT_GT(connection.send(request, piece, clock_.now()), 0U);
        }
        const window counted(outer_);
        for (std::uint64_t i = 0; i < measured; ++i) {
            connection.send(request, piece, clock_.now());
        }
        const auto result = counted.close();
        EXPECT_EQ(result.allocations, 0U) << request;
        EXPECT_TRUE(result.outer_agrees) << request;
        EXPECT_FALSE(connection.closing());
    }

    static std::uint64_t http_values() {
        return transport::operation_totals_now()[web::http_value.index()].operations;
    }

    outer_counter outer_;
    transport::real_clock clock_;
    fake_backend above_;
    std::optional<web::backend> parts_;
    std::optional<web::server> server_;
};

TEST_F(http_gate, counting_is_on) {
    EXPECT_TRUE(transport::allocation_counting_enabled());
}

TEST_F(http_gate, one_value) {
    const std::uint64_t before = http_values();
    expect_no_allocation(get("/api/v1/values/press/tank/level"), 8192);
    EXPECT_EQ(http_values() - before, warm_up + measured);
}

TEST_F(http_gate, values_pipelined) {
    std::string burst;
    for (const std::string_view path :
         {"press/count", "press/m%C3%BChle", "oven/a%252Fb", "oven/dead", "press%2Ftank%2Flevel"}) {
        burst += get("/api/v1/values/" + std::string(path));
    }
    expect_no_allocation(burst, 8192);
}

TEST_F(http_gate, values_split) {
    expect_no_allocation(get("/api/v1/values/press/count"), 7);
}

TEST_F(http_gate, lists_and_refusals) {
    expect_no_allocation(get("/api/v1/values?tag=press/count&tag=oven/dead"), 8192);
    expect_no_allocation(get("/api/v1/values?filter=mill/*&limit=50"), 8192);
    expect_no_allocation(get("/api/v1/values/press/none"), 8192);
    expect_no_allocation(get("/api/v1/values?limit=0"), 8192);
    expect_no_allocation(
        "POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n0\r\n\r\n",
        8192);
}

}  // namespace
}  // namespace tagferry::allocation
