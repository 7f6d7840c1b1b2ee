// Tokens of machines: made, kept as digests, read from files, recognised.
#include "gateway/config/access_token.hpp"
#include "gateway/config/load.hpp"
#include "gateway/config/tokens.hpp"
#include "gateway/expose/web/identity.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tagferry::gateway {
namespace {

/// A folder of its own, gone with the test.
class folder {
  public:
    folder() { path_ = mkdtemp(name_.data()); }
    ~folder() { std::filesystem::remove_all(path_); }
    std::string write(const std::string& name, const std::string& text, mode_t mode) const {
        const std::string file = path_ + "/" + name;
        std::ofstream{file} << text;
        chmod(file.c_str(), mode);
        return file;
    }
    const std::string& path() const { return path_; }

  private:
    std::string name_ = "/tmp/tagferry-tokens-XXXXXX";
    std::string path_;
};

std::string digest_of(std::string_view token) {
    config::token_hasher hasher;
    config::token_digest digest{};
    EXPECT_TRUE(hasher.digest(token, digest));
    return config::to_hex(digest);
}

std::string with_tokens(const std::string& tokens) {
    return R"({"opcua": {"allow_none_policy": true}, "web": {"tokens": [)" + tokens + "]}}";
}

config::load_result load(const std::string& tokens, const std::string& in = ".") {
    return config::load_text(with_tokens(tokens), "tagferry.json", in);
}

std::string first_finding(const config::load_result& result) {
    return result.found.findings().empty() ? std::string{}
                                           : result.found.render(result.found.findings().front());
}

// Example of FIPS 180-2, one block.
TEST(config_tokens, the_digest_is_sha_256) {
    EXPECT_EQ(digest_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(config_tokens, one_hasher_digests_many) {
    config::token_hasher hasher;
    config::token_digest first{};
    config::token_digest other{};
    config::token_digest again{};
    ASSERT_TRUE(hasher.digest("abc", first));
    ASSERT_TRUE(hasher.digest("something else", other));
    ASSERT_TRUE(hasher.digest("abc", again));
    EXPECT_FALSE(config::same_digest(first, other));
    EXPECT_TRUE(config::same_digest(first, again));
}

TEST(config_tokens, tokens_are_long_and_never_the_same) {
    const std::string one = config::make_token();
    const std::string other = config::make_token();
    EXPECT_NE(one, other);
    EXPECT_EQ(one.size(), 52U);
    EXPECT_TRUE(one.starts_with("tagferry_"));
    EXPECT_EQ(one.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                    "-_"),
              std::string::npos);
}

TEST(config_tokens, a_digest_is_64_hexadecimal_digits_of_either_case) {
    const std::string digits = digest_of("abc");
    ASSERT_TRUE(config::parse_token_digest(digits));
    EXPECT_EQ(config::to_hex(*config::parse_token_digest(digits)), digits);
    EXPECT_TRUE(config::parse_token_digest("BA" + digits.substr(2)));
    EXPECT_FALSE(config::parse_token_digest(digits.substr(1)));
    EXPECT_FALSE(config::parse_token_digest("g" + digits.substr(1)));
}

TEST(config_tokens, a_digest_and_a_file_give_the_same) {
    const folder here;
    const std::string token = "0123456789abcdef";
    here.write("mes.token", "  " + token + " \nsecond line\n", 0600);
    const auto result =
        load(R"({"name": "mes", "role": "operator", "token_file": "mes.token"})", here.path());
    ASSERT_TRUE(result.found.findings().empty()) << first_finding(result);
    EXPECT_EQ(config::to_hex(result.value.web.tokens.at(0).digest), digest_of(token));
    const auto same = load(R"({"name": "mes", "sha256": ")" + digest_of(token) + R"("})");
    ASSERT_TRUE(same.found.findings().empty()) << first_finding(same);
    EXPECT_EQ(same.value.web.tokens.at(0).digest, result.value.web.tokens.at(0).digest);
    EXPECT_EQ(same.value.web.tokens.at(0).role, config::token_role::viewer);
}

TEST(config_tokens, what_is_wrong_is_said) {
    const folder here;
    here.write("short.token", "secret\n", 0600);
    here.write("open.token", "0123456789abcdef\n", 0644);
    const auto said = [&](const std::string& tokens) {
        return first_finding(load(tokens, here.path()));
    };
    EXPECT_NE(said(R"({"name": "a"})").find("neither"), std::string::npos);
    EXPECT_NE(said(R"({"name": "a", "sha256": "aa", "token_file": "b"})").find("both"),
              std::string::npos);
    EXPECT_NE(said(R"({"name": "a", "sha256": "secret"})").find("64 hexadecimal"),
              std::string::npos);
    EXPECT_NE(said(R"({"name": "a", "token_file": "absent"})").find("cannot be read: No such file"),
              std::string::npos);
    EXPECT_NE(said(R"({"name": "a", "token_file": "."})").find("is a folder"), std::string::npos);
    EXPECT_NE(said(R"({"name": "a", "token_file": "short.token"})").find("16 to 256"),
              std::string::npos);
    EXPECT_NE(said(R"({"name": "a", "token_file": "open.token"})").find("warning"),
              std::string::npos);
    const std::string one = R"({"name": "a", "sha256": ")" + digest_of("one") + R"("})";
    const std::string same = R"({"name": "b", "sha256": ")" + digest_of("one") + R"("})";
    const std::string other = R"({"name": "a", "sha256": ")" + digest_of("other") + R"("})";
    EXPECT_NE(said(one + "," + same).find("have the same token"), std::string::npos);
    EXPECT_NE(said(one + "," + other).find("given twice"), std::string::npos);
}

TEST(config_tokens, more_than_the_limit_is_an_error) {
    std::string tokens;
    for (int i = 0; i < 65; ++i) {
        const std::string name = std::to_string(i);
        tokens += (i == 0 ? "" : ",") + (R"({"name": ")" + name) + R"(", "sha256": ")" +
                  digest_of(name) + R"("})";
    }
    EXPECT_NE(first_finding(load(tokens)).find("limits.web_tokens is 64"), std::string::npos);
}

TEST(web_identity, a_token_says_who_and_what_role) {
    const auto loaded = load(R"({"name": "mes", "role": "operator", "sha256": ")" +
                             digest_of("operators-token") + R"("},
                             {"name": "panel", "sha256": ")" +
                             digest_of("viewers-token") + R"("})");
    ASSERT_TRUE(loaded.found.ok());
    web_identity identity("1.0.0", 0, {}, loaded.value.web.tokens);
    const auto writer = identity.authenticate("operators-token");
    ASSERT_TRUE(writer);
    EXPECT_EQ(writer->name, "mes");
    EXPECT_EQ(writer->role, web::role::operator_);
    const auto reader = identity.authenticate("viewers-token");
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->name, "panel");
    EXPECT_EQ(reader->role, web::role::viewer);
    EXPECT_FALSE(identity.authenticate("operators-toke"));
    EXPECT_FALSE(identity.authenticate(""));
    EXPECT_FALSE(identity.authenticate(std::string(10'000, 'a')));
}

TEST(web_identity, without_tokens_nobody_is_known) {
    web_identity identity("1.0.0", 0, {}, {});
    EXPECT_FALSE(identity.authenticate("anything at all"));
    EXPECT_FALSE(identity.authenticate(""));
}

}  // namespace
}  // namespace tagferry::gateway
