// The receive buffer against the simplest model there is: a queue of bytes. The input is a script
// of what arrives, what is consumed and what frames are announced.

#include "transport/bytes/receive_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>

namespace tagferry::transport {
namespace {

constexpr std::size_t staging_bytes = 96;
constexpr std::size_t large_bytes = 512;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

class script {
  public:
    explicit script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    bool done() const { return bytes_.empty(); }
    std::size_t next() {
        if (bytes_.empty()) {
            return 0;
        }
        const std::size_t value = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return value;
    }

  private:
    std::span<const std::uint8_t> bytes_;
};

class machine {
  public:
    void run(script steps) {
        while (!steps.done()) {
            const std::size_t step = steps.next();
            const std::size_t amount = steps.next() + (step / 8U) * 8U;
            do_step(step % 8U, amount);
            check();
        }
    }

  private:
    void do_step(std::size_t step, std::size_t amount) {
        switch (step) {
            case 0:
            case 1:
            case 2:
                return receive(amount);
            case 3:
            case 4:
                return consume(amount);
            case 5:
                return announce(amount * 2U);
            case 6:
                return occupy_pool();
            default:
                return amount % 4U == 0 ? hand_over() : release_pool();
        }
    }

    void receive(std::size_t wanted) {
        const auto room = buffer().writable();
        if (large_end_ != 0) {
            require(room.size() == large_end_ - expected_.size());
        } else {
            require(room.size() <= staging_bytes - expected_.size());
            // Room is never withheld: what is free is free as soon as little is left behind.
            require(expected_.size() == staging_bytes || !room.empty());
        }
        const std::size_t count = std::min(wanted, room.size());
        for (std::size_t index = 0; index < count; ++index) {
            room[index] = static_cast<std::byte>(stream_);
            expected_.push_back(static_cast<std::byte>(stream_));
            stream_ = stream_ * 5U + 3U;
        }
        buffer().filled(count);
    }

    void consume(std::size_t wanted) {
        const std::size_t count = std::min(wanted, expected_.size());
        buffer().consume(count);
        expected_.erase(expected_.begin(), expected_.begin() + static_cast<std::ptrdiff_t>(count));
        if (expected_.empty()) {
            large_end_ = 0;
        } else if (large_end_ != 0) {
            large_end_ -= count;
        }
    }

    void announce(std::size_t size) {
        const bool was_large = large_end_ != 0;
        const frame_room room = buffer().expect_frame(size);
        if (size == 0 || (!was_large && size <= staging_bytes)) {
            require(room == frame_room::ready);
            return;
        }
        if (size > large_bytes) {
            require(room == frame_room::too_large);
            return;
        }
        if (!was_large && occupied_[0] && occupied_[1]) {
            require(room == frame_room::no_buffer);
            return;
        }
        require(room == frame_room::ready);
        large_end_ = std::max(size, expected_.size());
        require(buffer().in_large_frame());
    }

    void occupy_pool() {
        for (pooled_buffer& slot : occupied_) {
            if (!slot) {
                slot = pool_.rent();
                return;
            }
        }
    }

    void release_pool() {
        for (pooled_buffer& slot : occupied_) {
            slot.reset();
        }
    }

    void hand_over() {
        buffer().hand_over(buffers_[1 - current_]);
        require(buffer().empty() && !buffer().in_large_frame());
        current_ = 1 - current_;
    }

    void check() {
        const auto view = buffer().unconsumed();
        require(std::equal(view.begin(), view.end(), expected_.begin(), expected_.end()));
        require(buffer().empty() == expected_.empty());
        require(buffer().in_large_frame() == (large_end_ != 0));
        const std::size_t out =
            (occupied_[0] ? 1U : 0U) + (occupied_[1] ? 1U : 0U) + (large_end_ != 0 ? 1U : 0U);
        require(pool_.slot_count() - pool_.free_count() == out);
    }

    receive_buffer& buffer() { return buffers_[current_]; }

    pinned_pool pool_{{.name = "fuzz", .slot_size = large_bytes, .slot_count = 2}};
    std::array<pooled_buffer, 2> occupied_;
    std::array<std::byte, staging_bytes> first_staging_{};
    std::array<std::byte, staging_bytes> second_staging_{};
    std::array<receive_buffer, 2> buffers_{receive_buffer{first_staging_, &pool_},
                                           receive_buffer{second_staging_, &pool_}};
    std::size_t current_ = 0;
    std::deque<std::byte> expected_;
    std::size_t large_end_ = 0;  // where receives stop, from the first unconsumed byte; 0: staging
    unsigned stream_ = 1;
};

}  // namespace
}  // namespace tagferry::transport

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagferry::transport;
    machine{}.run(script({data, std::min<std::size_t>(size, 4096)}));
    return 0;
}
