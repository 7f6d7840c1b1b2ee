// Requests that try to be understood differently by two servers, or to use up what there is.
#include "tests/unit/web/web_fixture.hpp"

namespace tagferry::web::testing {
namespace {

class hostile_request : public web_test {
  protected:
    /// The request is refused with `status`, and what follows it is never taken for a request.
    void expect_refused(std::string_view bytes, int status) {
        bool ended = false;
        const std::string smuggled = std::string(bytes) + request("/healthz");
        EXPECT_EQ(statuses(smuggled, &ended), std::vector<int>{status}) << bytes;
        EXPECT_TRUE(ended) << bytes;
    }
};

TEST_F(hostile_request, length_and_chunks_together) {
    expect_refused(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\n",
        400);
    expect_refused(
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
        "0\r\n\r\n",
        400);
}

TEST_F(hostile_request, repeated_or_malformed_lengths) {
    for (const std::string_view fields :
         {"Content-Length: 4\r\nContent-Length: 4\r\n",
          "Content-Length: 4\r\nContent-Length: 5\r\n", "Content-Length: 4, 4\r\n",
          "Content-Length: +4\r\n", "Content-Length: -4\r\n", "Content-Length: 0x4\r\n",
          "Content-Length: 4 4\r\n", "Content-Length:\r\n",
          "Content-Length: 99999999999999999999999\r\n"}) {
        expect_refused("POST / HTTP/1.1\r\nHost: x\r\n" + std::string(fields) + "\r\nabcd", 400);
    }
}

TEST_F(hostile_request, other_transfer_codings) {
    for (const std::string_view coding :
         {"gzip", "chunked, gzip", "gzip, chunked", "xchunked", "chunked;q=1", "identity"}) {
        expect_refused("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + std::string(coding) +
                           "\r\n\r\n0\r\n\r\n",
                       501);
    }
    expect_refused(
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked"
        "\r\n\r\n0\r\n\r\n",
        400);
    expect_refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
}

TEST_F(hostile_request, malformed_chunks) {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string_view body :
         {"x\r\n\r\n", "-1\r\n\r\n", "1\r\nabc\r\n", "1 2\r\n\r\n", "1\n\r\na\r\n",
          "11111111111111111\r\n\r\n", "1;\r\na\r\n", "1;\"\r\na\r\n", "\r\n0\r\n\r\n"}) {
        bool ended = false;
        const auto found = statuses(head + std::string(body) + "0\r\n\r\n", &ended);
        ASSERT_EQ(found.size(), 1U) << body;
        EXPECT_TRUE(found[0] == 400 || found[0] == 413) << body << found[0];
        EXPECT_TRUE(ended) << body;
    }
}

TEST_F(hostile_request, a_last_chunk_in_pieces_is_taken_whole) {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string_view body : {"0\r\n\r\n", "1\r\na\r\n0\r\n\r\n", "0\r\nA: b\r\n\r\n"}) {
        for (std::size_t cut = 1; cut < body.size(); ++cut) {
            auto& connection = connect();
            connection.send(head + std::string(body.substr(0, cut)), now());
            connection.turn(now());
            connection.send(body.substr(cut), now());
            EXPECT_TRUE(connection.take().starts_with("HTTP/1.1 4")) << body << cut;
        }
    }
}

TEST_F(hostile_request, line_ends_and_folding) {
    expect_refused("GET / HTTP/1.1\nHost: x\n\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: x\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n", 400);
    expect_refused("\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400);
}

TEST_F(hostile_request, bytes_that_do_not_belong) {
    using namespace std::string_literals;
    expect_refused("GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n"s, 400);
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"s, 400);
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\nA\x01: b\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", 400);
    expect_refused("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    expect_refused("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    expect_refused("\x16\x03\x01\x02\r\n\r\n", 400);
}

TEST_F(hostile_request, hosts) {
    expect_refused("GET / HTTP/1.1\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400);
    expect_refused("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", 400);
}

TEST_F(hostile_request, versions_and_targets) {
    expect_refused("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505);
    expect_refused("GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505);
    expect_refused("GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505);
    expect_refused("GET / HTTP/11\r\nHost: x\r\n\r\n", 400);
    expect_refused("GET / http/1.1\r\nHost: x\r\n\r\n", 400);
    expect_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
    expect_refused("GET healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    expect_refused("GET /healthz#x HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    expect_refused("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501);
}

TEST_F(hostile_request, limits) {
    const auto& limits = options.limits;
    expect_refused("GET /" + std::string(limits.target_size, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n",
                   414);
    expect_refused("GET /" + std::string(limits.head_size, 'a'), 414);
    expect_refused(
        "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(limits.head_size, 'a') + "\r\n\r\n", 431);
    std::string fields;
    for (std::size_t i = 0; i < limits.field_count; ++i) {
        fields += "A: b\r\n";
    }
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n", 431);
    expect_refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                       std::to_string(limits.body_size + 1) + "\r\n\r\n",
                   413);
    const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string long_text(limits.chunk_line_size * 2, 'a');
    for (const std::string& body : {"1;" + long_text, "1;" + long_text + "\r\nx\r\n0\r\n\r\n",
                                    "0\r\nA: " + long_text, "0\r\nA: " + long_text + "\r\n\r\n"}) {
        EXPECT_EQ(statuses(chunked + body), std::vector<int>{431});
    }
    expect_refused(chunked + "20000\r\n", 413);
}

TEST_F(hostile_request, a_body_as_large_as_allowed_is_taken) {
    auto& connection = connect();
    const std::size_t size = options.limits.body_size;
    connection.send(request("/healthz", "POST", "Content-Length: " + std::to_string(size) + "\r\n"),
                    now());
    connection.send(std::string(size, 'x'), now());
    EXPECT_TRUE(connection.take().starts_with("HTTP/1.1 405 "));
    EXPECT_FALSE(connection.closing());
    connection.send(request("/healthz", "POST", "Transfer-Encoding: chunked\r\n") + "10000\r\n",
                    now());
    connection.send(std::string(size, 'x') + "\r\n0\r\n\r\n", now());
    EXPECT_TRUE(connection.take().starts_with("HTTP/1.1 405 "));
    EXPECT_FALSE(connection.closing());
}

TEST_F(hostile_request, too_many_bodies_at_once_are_refused) {
    options.limits.request_slots = 2;
    const std::string begun = request("/healthz", "POST", "Content-Length: 3\r\n");
    connect().send(begun, now());
    connect().send(begun, now());
    EXPECT_EQ(statuses(begun), std::vector<int>{503});
}

TEST_F(hostile_request, escapes_in_paths) {
    EXPECT_EQ(get("/api/v1/values/press%").status, 400);
    EXPECT_EQ(get("/api/v1/values/press%4").status, 400);
    EXPECT_EQ(get("/api/v1/values/press%zz").status, 400);
    EXPECT_EQ(get("/api/v1/values/press%00").status, 400);
    EXPECT_EQ(get("/api/v1/values/press%0a").status, 400);
    EXPECT_EQ(get("/api/v1/values/press%ff").status, 400);
    EXPECT_EQ(get("/api/v1/values/%c0%af").status, 400);
    EXPECT_EQ(get("/api/v1/values/%ed%a0%80").status, 400);
    EXPECT_EQ(get("/api/v1/values/../../etc/passwd").status, 404);
    EXPECT_EQ(get("/api/v1/values/").status, 404);
}

TEST_F(hostile_request, anything_echoed_is_escaped) {
    const answer got = get("/api/v1/values/%22%3Cscript%3E");
    EXPECT_EQ(got.status, 404);
    EXPECT_EQ(got.json()["subject"], "\"<script>");
    const answer raw = get("/api/\xff\"");
    EXPECT_EQ(raw.status, 404);
    EXPECT_EQ(raw.json()["subject"], "/api/\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace tagferry::web::testing
