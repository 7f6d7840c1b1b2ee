// Embedded files: what a browser gets, keeps and asks for again.
#include "tests/unit/web/web_fixture.hpp"
#include "web/http/conditional.hpp"

namespace tagferry::web::testing {
namespace {

std::span<const unsigned char> bytes(std::string_view text) {
    return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

class assets_test : public web_test {
  protected:
    assets_test() : script_(200'000, 'x') {
        files_ = {
            {{"/", "text/html; charset=utf-8", bytes("<!doctype html>"), {}, false},
             {"/assets/app-1a2b.js", "text/javascript", bytes(script_), bytes("squeezed"), true}}};
        options.assets = files_;
    }

    std::string script_;
    std::array<asset, 2> files_;
};

TEST_F(assets_test, the_page_is_served_to_everybody_and_asked_for_again) {
    options.anonymous_role = role::none;
    const answer page = get("/");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.body, "<!doctype html>");
    EXPECT_EQ(page.field("content-type"), "text/html; charset=utf-8");
    EXPECT_EQ(page.field("cache-control"), "no-cache");
    EXPECT_EQ(page.field("x-content-type-options"), "nosniff");
    EXPECT_NE(page.field("content-security-policy").find("default-src 'none'"), std::string::npos);
    const std::string tag = page.field("etag");
    EXPECT_TRUE(tag.starts_with('"') && tag.ends_with("-f\"")) << tag;
    auto& connection = connect();
    connection.send(request("/", "GET", "If-None-Match: \"other\", W/" + tag + "\r\n"), now());
    std::string wire = connection.take();
    const auto again = take_answers(wire, true);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].status, 304);
    EXPECT_EQ(again[0].field("etag"), tag);
    EXPECT_EQ(again[0].field("content-length"), "");
    EXPECT_EQ(wire, "");
    EXPECT_EQ(get("/", "GET", "If-None-Match: \"other\"\r\n").status, 200);
}

TEST_F(assets_test, a_file_with_its_hash_in_its_name_is_kept_for_ever) {
    const answer file = get("/assets/app-1a2b.js");
    EXPECT_EQ(file.body, script_);
    EXPECT_EQ(file.field("cache-control"), "public, max-age=31536000, immutable");
    EXPECT_EQ(file.field("content-encoding"), "");
    const answer head = get("/assets/app-1a2b.js", "HEAD");
    EXPECT_EQ(head.field("content-length"), "200000");
}

TEST_F(assets_test, who_takes_gzip_gets_it_under_another_tag) {
    const answer plain = get("/assets/app-1a2b.js");
    const answer small = get("/assets/app-1a2b.js", "GET", "Accept-Encoding: br, gzip\r\n");
    EXPECT_EQ(small.body, "squeezed");
    EXPECT_EQ(small.field("content-encoding"), "gzip");
    EXPECT_EQ(small.field("vary"), "Accept-Encoding");
    EXPECT_NE(small.field("etag"), plain.field("etag"));
    EXPECT_EQ(get("/", "GET", "Accept-Encoding: gzip\r\n").field("content-encoding"), "");
}

TEST_F(assets_test, nothing_else_turns_into_a_file) {
    EXPECT_EQ(get("/assets/none.js").status, 404);
    EXPECT_EQ(get("/", "POST").status, 405);
    EXPECT_EQ(get("/nothing", "POST").status, 404);
}

TEST(conditional_test, entity_tags_in_a_list) {
    EXPECT_TRUE(names_entity_tag("\"a\"", "\"a\""));
    EXPECT_TRUE(names_entity_tag(" \"b\" , W/\"a\"", "\"a\""));
    EXPECT_TRUE(names_entity_tag("*", "\"a\""));
    EXPECT_FALSE(names_entity_tag("", "\"a\""));
    EXPECT_FALSE(names_entity_tag("\"ab\"", "\"a\""));
    EXPECT_FALSE(names_entity_tag("a", "\"a\""));
}

TEST(conditional_test, gzip_is_taken_where_it_is_not_refused) {
    EXPECT_TRUE(accepts_gzip("gzip"));
    EXPECT_TRUE(accepts_gzip("deflate, GZip;q=0.5"));
    EXPECT_TRUE(accepts_gzip("*"));
    EXPECT_FALSE(accepts_gzip(""));
    EXPECT_FALSE(accepts_gzip("gzip;q=0"));
    EXPECT_FALSE(accepts_gzip("gzip; q=0.000, *"));
    EXPECT_FALSE(accepts_gzip("identity"));
}

}  // namespace
}  // namespace tagferry::web::testing
