// A length-framed echo in the shape of a real engine: the smallest one that frames, queues, holds
// back and reports. Request and reply: total size as a little-endian u32, then any bytes.
//
// A reply is encoded into a ring of fixed slots and stays there until it is reported written; with
// all slots taken the engine wants no input.
#pragma once

#include "transport/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tagferry::testing {

class echo_engine final : public transport::engine {
  public:
    static constexpr std::size_t header_size = 4;
    static constexpr std::size_t max_frame = 512;
    static constexpr std::size_t slot_count = 64;
    /// Frames of one turn (RX13).
    static constexpr std::size_t turn_limit = 64;

    void opened(transport::engine_host& host, transport::time_point) override {
        host_ = &host;
        taken_ = pulled_ = queued_ = 0;
    }

    transport::receive_result receive(std::span<std::byte> bytes, transport::time_point) override {
        if (taken_ == queued_) {
            taken_ = pulled_ = queued_ = 0;  // the first slots are the warm ones
        }
        std::size_t consumed = 0;
        for (std::size_t frames = 0; frames < turn_limit; ++frames) {
            const auto rest = bytes.subspan(consumed);
            const std::size_t size = frame_size(rest);
            if (size == 0) {
                return {consumed, false};
            }
            if (size < header_size || size > max_frame) {
                host_->close_after_flush(transport::close_reason::protocol_error);
                return {bytes.size(), false};
            }
            if (rest.size() < size || queued_ - taken_ == slot_count) {
                return {consumed, false};
            }
            reply(rest.first(size));
            consumed += size;
        }
        return {consumed, frame_is_complete(bytes.subspan(consumed))};
    }

    transport::input_wish wants_input() const noexcept override {
        return {queued_ - taken_ < slot_count, 0};
    }

    void pull(transport::send_batch& batch, transport::time_point) override {
        while (pulled_ != queued_ && batch.add(slot(pulled_).bytes())) {
            ++pulled_;
        }
    }

    void written(const transport::write_report& report) override {
        ++taken_;
        failures_ += report.error ? 1U : 0U;
    }

    transport::time_point deadline() const noexcept override {
        return transport::time_point::max();
    }
    void expire(transport::time_point) override {}
    void resume(transport::completion_token, std::uint32_t, transport::time_point) override {}

    void closed(const transport::close_info& info, transport::time_point) override {
        last_close_ = info;
        host_ = nullptr;
    }

    std::uint64_t replies() const noexcept { return replies_; }
    std::uint64_t failures() const noexcept { return failures_; }
    const transport::close_info& last_close() const noexcept { return last_close_; }

  private:
    struct reply_slot {
        std::uint32_t size = 0;
        std::array<std::byte, max_frame> storage;
        std::span<const std::byte> bytes() const noexcept { return {storage.data(), size}; }
    };

    /// Of the frame at the front; 0 while its header is not there.
    static std::size_t frame_size(std::span<const std::byte> bytes) noexcept {
        if (bytes.size() < header_size) {
            return 0;
        }
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data(), sizeof size);
        return size == 0 ? SIZE_MAX : size;
    }
    static bool frame_is_complete(std::span<const std::byte> bytes) noexcept {
        const std::size_t size = frame_size(bytes);
        return size != 0 && bytes.size() >= size;
    }

    reply_slot& slot(std::uint64_t number) noexcept { return slots_[number % slot_count]; }

    void reply(std::span<const std::byte> request) noexcept {
        reply_slot& next = slot(queued_++);
        ++replies_;
        next.size = static_cast<std::uint32_t>(request.size());
        std::memcpy(next.storage.data(), request.data(), request.size());
    }

    transport::engine_host* host_ = nullptr;
    // Replies by number: [taken_, pulled_) are with the driver, [pulled_, queued_) wait for it.
    std::uint64_t taken_ = 0;
    std::uint64_t pulled_ = 0;
    std::uint64_t queued_ = 0;
    std::uint64_t replies_ = 0;
    std::uint64_t failures_ = 0;
    transport::close_info last_close_{};
    std::array<reply_slot, slot_count> slots_;
};

}  // namespace tagferry::testing
