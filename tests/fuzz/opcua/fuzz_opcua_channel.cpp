// One connection of the server and any bytes: raw ones, and chunks that are right but for what
// the input changes, so that the fuzzer need not guess channel ids.
#include "protocols/opcua/server/connection_engine.hpp"
#include "tests/fuzz/opcua/records.hpp"
#include "tests/support/opcua/raw_client.hpp"

namespace {

using namespace tagferry::opcua;
using namespace tagferry::opcua::test;

void act(raw_client& client, plant& site, const record& step) {
    switch (step.what % 8) {
        case 0:
            client.driver.feed(step.payload);
            break;
        case 1:
            client.driver.feed_in_pieces(step.payload, 1);
            break;
        case 2:
            client.driver.feed(client.chunk("MSGF", step.payload, step.what));
            break;
        case 3:
            client.driver.feed(client.chunk("MSGC", step.payload, step.what & 0x10U));
            break;
        case 4:
            client.driver.feed(client.chunk("MSGA", step.payload, step.what & 0x10U));
            break;
        case 5: {
            const reply answer = client.call(client.open_frame(client.channel_id != 0));
            if (answer.type == "OPN") {
                client.take_open(answer);
            }
            break;
        }
        case 6:
            site.time.advance(std::chrono::milliseconds{step.what * 100});
            client.driver.expire();
            break;
        default:
            client.driver.hold_output = !client.driver.hold_output;
            client.driver.turn();
    }
    if (!client.driver.hold_output) {
        while (!client.next().type.empty()) {
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static plant site{small_limits()};
    raw_client client = site.connect();
    records input{std::as_bytes(std::span{data, size})};
    record step;
    for (int count = 0; count < 64 && input.next(step) && !client.driver.closing(); ++count) {
        act(client, site, step);
    }
    return 0;
}
