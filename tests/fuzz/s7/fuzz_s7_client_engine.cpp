// The client engine under any order of input, jobs, time, closes and reports. Whatever happens,
// every job that was accepted is finished exactly once.
#include "protocols/s7/client_engine.hpp"
#include "tests/fuzz/s7/steps.hpp"
#include "tests/unit/s7/support.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace tagferry::s7;
using tagferry::s7::test::fake_driver;

class counting_observer final : public client_observer {
  public:
    void link_changed(const link_event& /*event*/) override {}
    void job_finished(const job_result& result) override {
        ++finished_times[result.tag];
        for (const item_result& item : result.items) {
            for (const std::byte byte : item.bytes) {
                checksum += std::to_integer<unsigned>(byte);
            }
        }
    }
    std::map<std::uint64_t, int> finished_times;
    unsigned checksum = 0;
};

client_options options() {
    client_options wanted;
    wanted.pdu_size = 480;
    wanted.max_jobs = 3;
    wanted.queued_jobs = 2;
    return wanted;
}

/// Items whose places and sizes come from the input.
std::vector<variable> items_from(std::span<const std::byte> bytes) {
    std::vector<variable> items;
    for (std::size_t i = 0; i + 1 < bytes.size() && items.size() < 25; i += 2) {
        const auto start = std::to_integer<std::uint32_t>(bytes[i]);
        const auto length = std::to_integer<std::uint16_t>(bytes[i + 1]);
        items.push_back(length == 0 ? bit_variable(area::memory, 0, start, 1)
                                    : byte_variable(area::data_block, 1, start, length));
    }
    return items;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static tagferry::transport::pinned_pool pool({"s7_fuzz", 487, 6});
    tagferry::transport::manual_clock clock;
    counting_observer observer;
    std::uint64_t accepted = 0;
    {
        client_engine client(options(), pool, observer);
        fake_driver wire(client, clock);
        wire.open();
        const std::vector<std::byte> zeros(256);
        test::for_each_step(data, size, [&](std::uint8_t what, std::span<const std::byte> bytes) {
            switch (what % 8) {
                case 0:
                    wire.receive(bytes);
                    break;
                case 1:
                    accepted += client.submit_read(accepted, items_from(bytes)) ? 1U : 0U;
                    wire.turn();
                    break;
                case 2: {
                    std::vector<write_item> writes;
                    for (const variable& item : items_from(bytes)) {
                        writes.push_back({item, std::span(zeros).first(item.data_size())});
                    }
                    accepted += client.submit_write(accepted, writes) ? 1U : 0U;
                    wire.turn();
                    break;
                }
                case 3:
                    clock.advance(std::chrono::milliseconds(bytes.size() * 40));
                    wire.expire();
                    break;
                case 4:
                    wire.close(tagferry::transport::close_reason::peer_closed);
                    wire.open();
                    break;
                case 5:
                    wire.hold_reports = !wire.hold_reports;
                    wire.report_all();
                    break;
                case 6:
                    client.disconnect();
                    wire.turn();
                    break;
                default: {
                    // The handshake as a PLC does it, so that the rest is soon reached.
                    wire.close(tagferry::transport::close_reason::peer_closed);
                    wire.open();
                    wire.receive(test::hex("0300000b06d00001000300"));
                    wire.receive(
                        test::hex("0300001b02f08032030000ffff000800000000f0000003000301e0"));
                    break;
                }
            }
        });
        wire.close(tagferry::transport::close_reason::shutting_down);
        if (client.jobs_in_flight() + client.jobs_queued() != 0) {
            std::abort();
        }
    }
    if (observer.finished_times.size() != accepted || pool.free_count() != pool.slot_count()) {
        std::abort();
    }
    for (const auto& [tag, times] : observer.finished_times) {
        if (times != 1) {
            std::abort();
        }
    }
    return 0;
}
