// The services behind an activated session: each record is the body of one request after its
// header, of a service that the input chooses.
#include "protocols/opcua/server/connection_engine.hpp"
#include "protocols/opcua/services/service.hpp"
#include "tests/fuzz/opcua/records.hpp"
#include "tests/support/opcua/raw_client.hpp"

namespace {

using namespace tagferry;
using namespace tagferry::opcua;
using namespace tagferry::opcua::test;

// SubscriptionIds cannot be guessed, not even by a fuzzer: a request that begins with 0 gets the
// one that was made last.
std::uint32_t made_last = 0;

void write_body(encoder& out, std::span<const std::byte> payload) {
    constexpr std::size_t id_size = sizeof made_last;
    if (payload.size() >= id_size &&
        transport::load<std::uint32_t>(payload.data(), std::endian::little) == 0) {
        out.u32(made_last);
        payload = payload.subspan(id_size);
    }
    out.raw(payload);
}

void take_answers(raw_client& client) {
    for (reply answer = client.next(); !answer.type.empty(); answer = client.next()) {
        std::uint32_t type = 0;
        bytes rest;
        if (answer.type == "MSG" && raw_client::result_of(answer, &type, &rest) == 0 &&
            type == id::create_subscription_response_binary) {
            made_last = transport::load<std::uint32_t>(rest.data(), std::endian::little);
        }
    }
}

void act(raw_client& client, plant& site, const record& step) {
    const auto rows = services();
    const std::size_t which = step.what % (rows.size() + 4);
    if (which < rows.size()) {
        client.driver.feed(client.request(rows[which].request_type,
                                          [&](encoder& out) { write_body(out, step.payload); }));
    } else if (which == rows.size()) {
        if (!site.gateway.pending_reads.empty()) {
            site.gateway.complete_device_read(device_read_result::completed, site.time.now());
            client.driver.turn();
        }
    } else if (which == rows.size() + 1) {
        site.time.advance(std::chrono::milliseconds{500});
        site.turn();
        client.driver.expire();
    } else if (which == rows.size() + 2) {
        const bool changed = !step.payload.empty();
        const auto value =
            changed ? std::to_integer<std::uint8_t>(step.payload[0]) : std::uint8_t{0};
        site.gateway.deliver("press/tank/level", slot_of(static_cast<float>(value)), changed);
        site.turn();
    } else {
        client.create_session();
        client.activate();
    }
    take_answers(client);
}

limits few_of_all() {
    limits bounds = small_limits();
    bounds.max_subscriptions = 8;
    bounds.max_monitored_items = 64;
    bounds.max_publish_requests = 16;
    bounds.max_publish_requests_per_session = 8;
    bounds.max_publishing_interval_ms = 1'000;
    bounds.max_keep_alive_count = 4;
    bounds.max_lifetime_count = 12;
    bounds.max_queue_bytes = 8'192;
    bounds.max_retransmission_bytes = 16'384;
    bounds.max_retransmission_messages = 4;
    bounds.max_triggering_links = 8;
    return bounds;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static plant site{few_of_all()};
    made_last = 0;
    {
        raw_client client = site.connect();
        client.open_session();
        records input{std::as_bytes(std::span{data, size})};
        record step;
        for (int count = 0; count < 32 && input.next(step) && !client.driver.closing(); ++count) {
            act(client, site, step);
        }
    }
    while (!site.gateway.pending_reads.empty()) {
        site.gateway.complete_device_read(device_read_result::completed, site.time.now());
    }
    // The next input begins without the sessions of this one.
    site.time.advance(std::chrono::hours{2});
    // Subscriptions of a lost session live for twelve cycles of a second.
    for (int count = 0; count < 16; ++count) {
        site.time.advance(std::chrono::seconds{1});
        site.turn();
    }
    return 0;
}
