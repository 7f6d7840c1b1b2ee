// Edge cases of the secure channel and of sessions that need no certificate to be tried: what the
// rows about policies, certificates and reverse connections mean while policy None is the only one.
#include "protocols/opcua/channel/sequence.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tagferry::opcua::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

TEST(edge_E05, the_rule_of_policy_none_counts_from_one_and_wraps_early_on_every_lap) {
    outbound_sequence sent;
    EXPECT_EQ(sent.next(), 1U);
    for (int lap = 0; lap < 3; ++lap) {
        sent = outbound_sequence{sequence_wrap_after};
        EXPECT_EQ(sent.next(), sequence_wrap_after + 1);
        EXPECT_EQ(sent.next(), 1U) << "0 is left to the policies that count from it";
    }
    inbound_sequence received;
    EXPECT_TRUE(received.accept(most));
    EXPECT_TRUE(received.accept(0));
    EXPECT_TRUE(received.accept(1));
    EXPECT_FALSE(received.accept(0));
}

TEST(edge_E06, numbers_follow_the_order_of_sending_when_answers_overtake_one_another) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    client.driver.feed(client.read_request({"press/tank/level"}, 0));
    const std::uint32_t waiting = client.request_id;
    const reply first = client.call(client.read_request({"press/tank/level"}));
    site.gateway.complete_device_read(device_read_result::completed, site.time.now());
    client.driver.turn();
    const reply second = client.next();
    EXPECT_EQ(first.request_id, waiting + 1);
    EXPECT_EQ(second.request_id, waiting);
    EXPECT_EQ(second.sequence_numbers.front(), first.sequence_numbers.back() + 1);
}

TEST(edge_E07, an_answer_that_is_given_up_takes_no_number) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    const reply before = client.call(client.read_request({"press/tank/level"}));
    client.driver.feed(client.read_request({"press/tank/level"}, 0));
    {
        raw_client other = site.connect();
        other.open();
        other.token = client.token;
        other.activate();
        other.call(other.request(id::close_session_request_binary,
                                 [](encoder& out) { out.boolean(true); }));
    }
    site.gateway.complete_device_read(device_read_result::completed, site.time.now());
    const reply after = client.call(client.read_request({"press/tank/level"}));
    EXPECT_EQ(raw_client::result_of(after), status::bad_session_id_invalid);
    EXPECT_EQ(after.sequence_numbers.front(), before.sequence_numbers.back() + 1);
}

// A message OpenSecureChannel with certificates where policy None has none.
bytes open_with(raw_client& client, bytes_view sender, bytes_view thumbprint) {
    return raw_client::frame("OPNF", encoded([&](encoder& out) {
                                 out.u32(0);
                                 out.string(policy_none);
                                 out.byte_string(sender);
                                 out.byte_string(thumbprint);
                                 out.u32(client.next_sequence());
                                 out.u32(1);
                                 client.write_request_head(out,
                                                           id::open_secure_channel_request_binary);
                                 out.u32(0);
                                 out.u32(0);
                                 out.u32(1);
                                 out.byte_string({});
                                 out.u32(60'000);
                             }));
}

TEST(edge_E19, with_policy_none_a_sender_certificate_or_a_chain_is_passed_over) {
    for (const std::size_t size : {1U, 900U, 3'000U}) {
        plant site;
        raw_client client = site.connect();
        client.hello();
        const bytes chain(size, std::byte{0x30});
        EXPECT_EQ(client.call(open_with(client, chain, {})).type, "OPN") << size;
    }
    plant site;
    raw_client client = site.connect();
    client.hello();
    const bytes thumbprint(20, std::byte{1});
    EXPECT_EQ(raw_client::error_of(client.call(open_with(client, {}, thumbprint))),
              status::bad_security_checks_failed)
        << "who names a key of ours expects it to be used";
}

TEST(edge_E20, without_a_certificate_any_application_uri_is_taken) {
    for (const char* uri : {"urn:a:b", "http://example.org/x?y=z", "", "not a uri at all"}) {
        plant site;
        raw_client client = site.connect();
        client.open();
        const reply answer =
            client.call(client.request(id::create_session_request_binary, [&](encoder& out) {
                out.string(uri);
                out.string({});
                out.localized_text("client");
                out.u32(1);
                out.string({});
                out.string({});
                out.i32(-1);
                out.string({});
                out.string("opc.tcp://plant.example:4840");
                out.string("s");
                out.byte_string({});
                out.byte_string(bytes(700, std::byte{0x30}));
                out.float64(60'000);
                out.u32(0);
            }));
        EXPECT_EQ(raw_client::result_of(answer), status::good) << uri;
    }
}

TEST(edge_E21, every_policy_but_none_is_refused_alike) {
    for (const char* policy :
         {"Basic128Rsa15", "Basic256", "Basic256Sha256", "Aes128_Sha256_RsaOaep",
          "Aes256_Sha256_RsaPss", "ECC_nistP256", "none", "", "\xFF"}) {
        plant site;
        raw_client client = site.connect();
        client.hello();
        const std::string uri = std::string{"http://opcfoundation.org/UA/SecurityPolicy#"} + policy;
        EXPECT_EQ(raw_client::error_of(client.call(client.open_frame(false, 60'000, uri))),
                  status::bad_security_policy_rejected)
            << policy;
    }
}

TEST(edge_E21, a_secret_is_refused_alike_whatever_it_is) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.create_session();
    for (const std::size_t size : {0U, 1U, 32U, 256U, 4'000U}) {
        const bytes secret(size, std::byte{0xA5});
        const reply answer = client.call(client.activate_request([&](encoder& out) {
            out.numeric_id(0, id::user_name_identity_token_binary);
            out.u8(1);
            out.i32(static_cast<std::int32_t>(4 + 4 + 4 + 4 + 4 + size));
            out.string("");
            out.string("user");
            out.byte_string(secret);
            out.string("");
        }));
        EXPECT_EQ(raw_client::result_of(answer), status::bad_identity_token_rejected) << size;
    }
}

TEST(edge_E23, a_reverse_hello_is_the_servers_to_send) {
    plant site;
    for (const bool after_hello : {false, true}) {
        raw_client client = site.connect();
        if (after_hello) {
            client.hello();
        }
        const bytes reverse = raw_client::frame("RHEF", encoded([](encoder& out) {
                                                    out.string("urn:test:server");
                                                    out.string("opc.tcp://plant.example:4840");
                                                }));
        EXPECT_EQ(raw_client::error_of(client.call(reverse)), status::bad_tcp_message_type_invalid);
    }
}

TEST(edge_E61, date_times_of_any_value_are_written_as_they_are) {
    plant site;
    site.gateway.rules.allow_anonymous_write = true;
    site.gateway.add_tag("press/when", builtin_type::date_time, slot_of(std::int64_t{0})).writable =
        true;
    raw_client client = site.connect();
    client.open_session();
    for (const std::int64_t ticks :
         {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()}) {
        client.driver.feed(client.request(id::write_request_binary, [&](encoder& out) {
            out.i32(1);
            raw_client::write_id(out, "press/when");
            out.u32(13);
            out.string({});
            out.u8(1);
            out.variant_head(builtin_type::date_time);
            out.i64(ticks);
        }));
        site.gateway.complete_write(site.time.now());
        client.driver.turn();
        EXPECT_EQ(raw_client::result_of(client.next()), status::good);
        EXPECT_EQ(site.gateway.tag_at("press/when").value, slot_of(ticks));
    }
    EXPECT_EQ(date_time_ticks(0), 0);
}

}  // namespace
}  // namespace tagferry::opcua::test
