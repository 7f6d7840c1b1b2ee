// An engine for tests of the driver: length-framed messages of any size, all switches in the
// test's hands, and every promise of `transport/engine.hpp` checked.
#pragma once

#include "transport/engine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace tagferry::testing {

using byte_string = std::vector<std::byte>;

/// A frame: total size as a little-endian u32, then a pattern that depends on `seed`.
inline byte_string make_frame(std::size_t size, unsigned seed = 1) {
    byte_string frame(size);
    for (std::size_t i = 0; i < size; ++i) {
        frame[i] = static_cast<std::byte>((i * 31 + seed * 7) & 0xFF);
    }
    const auto total = static_cast<std::uint32_t>(size);
    std::memcpy(frame.data(), &total, std::min(size, sizeof total));
    return frame;
}

class frame_engine final : public transport::engine {
  public:
    static constexpr std::size_t header_size = 4;

    // Switches.
    bool wants = true;
    std::size_t turn_limit = SIZE_MAX;  ///< frames of one call of `receive`
    std::size_t max_frame = std::size_t{1} << 20;
    bool echoes = false;
    bool announces_size = true;  ///< tells `input_wish::frame_size`
    transport::time_point due = transport::time_point::max();
    std::function<void()> on_opened;
    std::function<void()> on_frame;
    std::function<void()> on_written;
    std::function<void()> on_pull;
    std::function<void()> on_expire;

    // What happened.
    std::vector<byte_string> frames;
    std::vector<transport::write_report> reports;
    std::vector<transport::close_info> closes;
    std::size_t opens = 0;
    std::size_t receives = 0;
    std::size_t expires = 0;
    std::vector<std::string> violations;
    transport::engine_host* host = nullptr;

    /// Queues a message of these segments; they are freed when it is reported.
    void queue(std::vector<byte_string> segments) { queue_.push_back(std::move(segments)); }
    void queue(byte_string message) { queue(std::vector<byte_string>{std::move(message)}); }
    std::size_t queued() const noexcept { return queue_.size() - pulled_; }
    std::size_t with_the_driver() const noexcept { return pulled_; }

    void opened(transport::engine_host& giver, transport::time_point) override {
        const guard entry(*this, "opened");
        check(host == nullptr, "opened twice");
        host = &giver;
        ++opens;
        call(on_opened);
    }

    transport::receive_result receive(std::span<std::byte> bytes, transport::time_point) override {
        const guard entry(*this, "receive");
        check(!bytes.empty(), "shown nothing");
        check(wants, "shown input it does not want");
        ++receives;
        std::size_t consumed = 0;
        std::size_t taken = 0;
        front_ = 0;
        while (host != nullptr && wants) {
            const auto rest = bytes.subspan(consumed);
            std::uint32_t size = 0;
            if (rest.size() < header_size) {
                return {consumed, false};
            }
            std::memcpy(&size, rest.data(), sizeof size);
            if (size < header_size || size > max_frame) {
                host->close_after_flush(transport::close_reason::protocol_error);
                return {bytes.size(), false};
            }
            if (rest.size() < size) {
                front_ = size;
                return {consumed, false};
            }
            if (taken++ == turn_limit) {
                return {consumed, true};
            }
            frames.emplace_back(rest.begin(), rest.begin() + size);
            if (echoes) {
                queue(frames.back());
            }
            consumed += size;
            call(on_frame);
        }
        return {consumed, false};
    }

    transport::input_wish wants_input() const noexcept override {
        return {wants, announces_size ? front_ : 0};
    }

    void pull(transport::send_batch& batch, transport::time_point) override {
        const guard entry(*this, "pull");
        while (pulled_ < queue_.size()) {
            std::vector<std::span<const std::byte>> segments;
            for (const auto& each : queue_[pulled_]) {
                segments.emplace_back(each);
            }
            if (!batch.add(segments)) {
                break;
            }
            ++pulled_;
        }
        call(on_pull);
    }

    void written(const transport::write_report& report) override {
        const guard entry(*this, "written");
        check(host != nullptr, "reported after closed");
        check(pulled_ != 0, "a report too many");
        if (pulled_ != 0) {
            std::size_t size = 0;
            for (const auto& each : queue_.front()) {
                size += each.size();
            }
            check(report.error ? report.bytes < size || size == 0 : report.bytes == size,
                  "a report with a wrong size");
            queue_.pop_front();
            --pulled_;
        }
        reports.push_back(report);
        call(on_written);
    }

    transport::time_point deadline() const noexcept override { return due; }
    void expire(transport::time_point) override {
        const guard entry(*this, "expire");
        ++expires;
        due = transport::time_point::max();
        call(on_expire);
    }
    void resume(transport::completion_token, std::uint32_t, transport::time_point) override {}

    void closed(const transport::close_info& info, transport::time_point) override {
        const guard entry(*this, "closed");
        check(host != nullptr, "closed twice");
        check(pulled_ == 0, "closed with reports outstanding");
        host = nullptr;
        closes.push_back(info);
    }

    std::size_t reported_good() const {
        return static_cast<std::size_t>(std::count_if(
            reports.begin(), reports.end(), [](const auto& each) { return !each.error; }));
    }

  private:
    /// The driver calls an engine only when no other call to it is under way.
    class guard {
      public:
        guard(frame_engine& owner, const char* name) : owner_(owner) {
            owner_.check(
                owner_.inside_ == nullptr,
                std::string(name) + " inside " + (owner_.inside_ != nullptr ? owner_.inside_ : ""));
            owner_.inside_ = name;
        }
        ~guard() { owner_.inside_ = nullptr; }

      private:
        frame_engine& owner_;
    };

    void check(bool kept, std::string promise) {
        if (!kept) {
            violations.push_back(std::move(promise));
        }
    }
    static void call(const std::function<void()>& hook) {
        if (hook) {
            hook();
        }
    }

    std::deque<std::vector<byte_string>> queue_;  ///< the first `pulled_` are with the driver
    std::size_t pulled_ = 0;
    std::size_t front_ = 0;  ///< size of the frame at the front, once known
    const char* inside_ = nullptr;
};

}  // namespace tagferry::testing
