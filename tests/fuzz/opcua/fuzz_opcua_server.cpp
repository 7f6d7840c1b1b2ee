// The services behind an activated session: each record is the body of one request after its
// header, of a service that the input chooses.
#include "protocols/opcua/server/connection_engine.hpp"
#include "protocols/opcua/services/service.hpp"
#include "tests/fuzz/opcua/records.hpp"
#include "tests/support/opcua/raw_client.hpp"

namespace {

using namespace tagferry::opcua;
using namespace tagferry::opcua::test;

void act(raw_client& client, plant& site, const record& step) {
    const auto rows = services();
    const std::size_t which = step.what % (rows.size() + 3);
    if (which < rows.size()) {
        client.driver.feed(
            client.request(rows[which].request_type, [&](encoder& out) { out.raw(step.payload); }));
    } else if (which == rows.size()) {
        if (!site.gateway.pending_reads.empty()) {
            site.gateway.complete_device_read(device_read_result::completed, site.time.now());
            client.driver.turn();
        }
    } else if (which == rows.size() + 1) {
        site.time.advance(std::chrono::milliseconds{500});
        site.host->expire(site.time.now());
        client.driver.expire();
    } else {
        client.create_session();
        client.activate();
    }
    while (!client.next().type.empty()) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static plant site{small_limits()};
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
    site.host->expire(site.time.now());
    return 0;
}
