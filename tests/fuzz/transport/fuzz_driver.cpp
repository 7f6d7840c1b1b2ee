// The driver with everything in any order: what arrives and how it is cut, what a send takes,
// readiness told rightly, falsely and twice, the engine's whims, time, and a network that fails.
// The engine checks every promise of `transport/engine.hpp`; here it is checked that no byte and
// no message is lost, doubled or mixed.
#include "tests/support/driver_rig.hpp"

#include <cstdint>
#include <cstdlib>

namespace tagferry::testing {
namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

class machine {
  public:
    explicit machine(std::span<const std::uint8_t> bytes)
        : bytes_(bytes),
          pool_({.name = "fuzz_large", .slot_size = 20'000, .slot_count = 1}),
          rig_({.large_frames = &pool_, .high_water_bytes = 300, .low_water_bytes = 100}) {
        rig_.engine.max_frame = 30'000;
    }

    void run() {
        rig_.open();
        for (std::size_t steps = 0; !bytes_.empty() && steps < 2000; ++steps) {
            step();
            require(rig_.engine.violations.empty());
        }
        rig_.engine.wants = true;
        taken_.reset();
        if (rig_.engine.host != nullptr) {
            rig_.in_a_turn([this] { rig_.engine.host->output_ready(); });
        }
        rig_.settle_all();
        check();
    }

  private:
    std::size_t next() {
        if (bytes_.empty()) {
            return 0;
        }
        const std::size_t value = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return value;
    }

    void step() {
        switch (next() % 16) {
            case 0:
            case 1:
                arrive(make_frame(4 + next(), seed_++));
                break;
            case 2:
                arrive(make_frame(4 + next() * 100, seed_++));
                break;
            case 3:
                rig_.lines.read_limit = 1 + next() * next();
                break;
            case 4:
                rig_.lines.write_limits.push_back(next());
                break;
            case 5:
                rig_.tell(static_cast<std::uint32_t>(next()) & (EPOLLIN | EPOLLOUT));
                break;
            case 6:
            case 7:
                rig_.tell_once();
                break;
            case 8:
                send(next());
                break;
            case 9:
                rig_.engine.wants = next() % 2 == 0;
                wake_engine();
                break;
            case 10:
                rig_.engine.turn_limit = 1 + next();
                break;
            case 11:
                rig_.pass(std::chrono::milliseconds{next() * 4});
                break;
            case 12:
                rig_.engine.echoes = next() % 2 == 0;
                break;
            case 13:
                taken_ = next() % 2 == 0 ? pool_.rent() : transport::pooled_buffer();
                break;
            case 14:
                rig_.home.poll_here();
                break;
            default:
                end(next());
        }
    }

    void arrive(const byte_string& frame) {
        arrived_.push_back(frame);
        rig_.receive(frame);
    }

    void send(std::size_t count) {
        std::vector<byte_string> segments;
        for (std::size_t i = 0; i <= count % 5; ++i) {
            segments.push_back(make_frame(1 + (count * (i + 7) * 37) % 3000, seed_++));
        }
        rig_.engine.queue(std::move(segments));
        wake_engine();
    }

    void wake_engine() {
        if (rig_.engine.host != nullptr) {
            rig_.in_a_turn([this] { rig_.engine.host->output_ready(); });
        }
    }

    void end(std::size_t how) {
        if (rig_.engine.host == nullptr) {
            return;
        }
        switch (how % 8) {
            case 0:
                rig_.in_a_turn(
                    [this] { rig_.engine.host->abort(transport::close_reason::requested); });
                break;
            case 1:
                rig_.in_a_turn([this] {
                    rig_.engine.host->close_after_flush(transport::close_reason::requested);
                });
                break;
            case 2:
                rig_.lines.peer_ended = true;
                break;
            case 3:
                rig_.lines.fail_at_step = rig_.lines.steps + how / 8;
                break;
            case 4:
                rig_.tell(EPOLLIN | EPOLLHUP | EPOLLERR);
                break;
            default:
                break;
        }
    }

    void check() {
        require(rig_.engine.violations.empty());
        require(rig_.engine.frames.size() <= arrived_.size());
        for (std::size_t i = 0; i < rig_.engine.frames.size(); ++i) {
            require(rig_.engine.frames[i] == arrived_[i]);
        }
        std::size_t good = 0;
        for (const auto& report : rig_.engine.reports) {
            good += report.bytes;
        }
        require(good == rig_.lines.outbound.size() || rig_.driver != nullptr);
        require(rig_.engine.closes.size() == (rig_.driver == nullptr ? 1U : 0U));
        if (rig_.driver != nullptr && rig_.engine.host != nullptr) {
            require(rig_.engine.frames.size() == arrived_.size() || rig_.lines.sending_shut ||
                    !rig_.lines.write_limits.empty());
        }
    }

    std::span<const std::uint8_t> bytes_;
    transport::pinned_pool pool_;
    transport::pooled_buffer taken_;
    driver_rig rig_;
    std::vector<byte_string> arrived_;
    unsigned seed_ = 1;
};

}  // namespace
}  // namespace tagferry::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    tagferry::testing::machine({data, size}).run();
    return 0;
}
