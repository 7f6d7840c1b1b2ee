// A gateway of many REAL tags that all change at once, and a client that publishes them, without a
// byte from the heap while they run: for allocation gates and benchmarks.
#pragma once

#include "tests/support/opcua/subscriber.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::opcua::test {

/// Tag `n` has the path `n`; its handle is {n, 1}.
class bulk_backend final : public values_backend,
                           public browse_backend,
                           public writes_backend,
                           public feed_backend,
                           public identity_backend,
                           public configuration_backend,
                           public events_backend,
                           public schedule_backend {
  public:
    explicit bulk_backend(std::uint32_t tags)
        : values_(tags, 0.0F), latest_(tags), queued_(tags), next_latest_(tags), ring_(tags) {
        who_.application_uri = "urn:test:tagferry";
        urls_[0] = "opc.tcp://plant.example:4840";
    }
    backend ports() { return {*this, *this, *this, *this, *this, *this, *this, *this}; }

    /// Every tag gets another value.
    void change_all(transport::wall_time_ns now) {
        now_ = now;
        for (float& each : values_) {
            each += 1;
        }
        next_latest_ = 0;
        next_queued_ = 0;
    }
    void run_turns(transport::time_point now) {
        if (sink_ != nullptr && (next_latest_ < values_.size() || next_queued_ < values_.size())) {
            transport::completion_sink& sink = *sink_;
            sink_ = nullptr;
            sink.resume({}, 0, now);
        }
        while (work_ != nullptr) {
            continued_work& work = *work_;
            work_ = nullptr;
            work.go_on(now);
        }
    }

    bool read_current(const call&, tag_handle handle, std::span<std::byte> scratch,
                      sample& out) override {
        std::memcpy(scratch.data(), &values_[handle.index], sizeof(float));
        out = {{builtin_type::float32, -1, scratch.first(sizeof(float))}, 0, now_, now_};
        return true;
    }
    void read_numbers(const call&, std::span<const tag_handle> handles,
                      std::span<number_sample> into) override {
        for (std::size_t at = 0; at < handles.size(); ++at) {
            into[at] = {std::bit_cast<std::uint32_t>(values_[handles[at].index]),
                        now_,
                        now_,
                        0,
                        builtin_type::float32,
                        sizeof(float)};
        }
    }
    bool read_device(const call&, std::span<const tag_handle>) override { return false; }
    bool find(const call&, std::string_view path, tree_handle& out) override {
        std::uint32_t number = 0;
        const auto end = path.data() + path.size();
        const auto [at, error] = std::from_chars(path.data(), end, number);
        out = {tree_kind::tag, number, 1};
        return at == end && error == std::errc{} && number < values_.size();
    }
    void find_each(const call& context, std::span<const std::string_view> paths,
                   std::span<tree_handle> into) override {
        for (std::size_t at = 0; at < paths.size(); ++at) {
            if (!find(context, paths[at], into[at])) {
                into[at] = tree_root;
            }
        }
    }
    bool find_child(const call&, tree_handle, std::string_view, tree_handle&) override {
        return false;
    }
    bool describe(const call&, tree_handle node, tree_node& out) override {
        out = {};
        out.handle = node;
        out.type = builtin_type::float32;
        out.minimum_sampling_interval_ms = 100;
        return true;
    }
    tree_page children(const call&, tree_handle, std::uint64_t, std::span<tree_node>) override {
        return {};
    }
    bool start_write(const call&, std::span<const write_item>, std::span<status_code>) override {
        return false;
    }
    bool watch(const call&, tag_handle handle, feed_kind kind) override {
        (kind == feed_kind::queued ? queued_ : latest_)[handle.index] = 1;
        return true;
    }
    void unwatch(const call&, tag_handle, feed_kind) override {}
    void arm(const call& context) override { sink_ = context.sink; }
    std::size_t drain_latest(std::span<feed_mark> into) override {
        std::size_t written = 0;
        for (; written < into.size() && next_latest_ < values_.size(); ++next_latest_) {
            if (latest_[next_latest_] != 0) {
                into[written++] = {{static_cast<std::uint32_t>(next_latest_), 1}, true, false};
            }
        }
        return written;
    }
    std::size_t drain_queued(std::span<feed_sample> into) override {
        std::size_t written = 0;
        for (; written < into.size() && next_queued_ < values_.size(); ++next_queued_) {
            if (queued_[next_queued_] != 0) {
                std::memcpy(&ring_[written], &values_[next_queued_], sizeof(float));
                feed_sample& to = into[written];
                to.handle = {static_cast<std::uint32_t>(next_queued_), 1};
                to.overflow = false;
                to.changed = true;
                to.data = {
                    {builtin_type::float32, -1, std::as_bytes(std::span{&ring_[written], 1})},
                    0,
                    now_,
                    now_};
                ++written;
            }
        }
        return written;
    }
    const identity& who_we_are() const noexcept override { return who_; }
    std::span<const std::string_view> endpoint_urls() const noexcept override { return urls_; }
    std::uint8_t service_level() const noexcept override { return 255; }
    const settings& current() const noexcept override { return rules_; }
    void happened(server_event, const event_facts&) noexcept override {}
    transport::timing_wheel& wheel() noexcept override { return wheel_; }
    void go_on_next_turn(continued_work& work) noexcept override { work_ = &work; }
    void forget() noexcept override { work_ = nullptr; }

  private:
    std::vector<float> values_;
    std::vector<std::uint8_t> latest_;
    std::vector<std::uint8_t> queued_;
    std::size_t next_latest_;
    std::size_t next_queued_ = 0;
    std::vector<float> ring_;
    transport::wall_time_ns now_ = 1'700'000'001'000'000'000;
    identity who_{};
    std::array<std::string_view, 1> urls_{};
    settings rules_{};
    transport::completion_sink* sink_ = nullptr;
    transport::timing_wheel wheel_{transport::time_point{}};
    continued_work* work_ = nullptr;
};

/// One session with some subscriptions, each of the same number of items on tags of its own.
class bulk_plant {
  public:
    bulk_plant(std::uint32_t subscriptions, std::uint32_t items, const item_wish& like = {})
        : gateway(subscriptions * items),
          host_(gateway.ports(), bounds_, time),
          client_(host_, time) {
        client_.open_session();
        for (std::uint32_t which = 0; which < subscriptions; ++which) {
            ids_.push_back(create());
            for (std::uint32_t at = 0; at < items; at += 1'000) {
                monitor(ids_.back(), which * items + at, std::min(items - at, 1'000U), like);
            }
        }
        const bytes request = publish_request();
        for (std::uint32_t which = 0; which < subscriptions; ++which) {
            append(wire_, request);
        }
        request_size_ = request.size();
        client_.sequence -= 1;
    }

    /// One publishing interval: every tag changes, every subscription publishes, and the client
    /// has acknowledged what it got before. @return messages that came back.
    std::size_t round() {
        ++round_;
        for (std::size_t which = 0; which < ids_.size(); ++which) {
            std::byte* const at = wire_.data() + which * request_size_;
            transport::store(at + 16, client_.next_sequence(), std::endian::little);
            transport::store(at + request_size_ - 8, ids_[which], std::endian::little);
            transport::store(at + request_size_ - 4, round_ - 1, std::endian::little);
        }
        transport::engine& engine = client_.driver.engine();
        for (std::span<std::byte> rest = wire_; !rest.empty();) {
            rest = rest.subspan(engine.receive(rest, time.now()).consumed);
        }
        gateway.change_all(time.wall_now());
        time.advance(std::chrono::milliseconds{100});
        gateway.run_turns(time.now());
        transport::turn_budget timers{time, time.now(), 100'000, std::chrono::hours{1}};
        gateway.wheel().advance(time.now(), timers);
        std::size_t got = 0;
        do {
            gateway.run_turns(time.now());
        } while (take(engine, got));
        return got;
    }

    transport::manual_clock time{};
    bulk_backend gateway;
    std::uint64_t bytes_out = 0;

  private:
    std::uint32_t create() {
        const reply answer =
            client_.call(client_.request(id::create_subscription_request_binary, [](encoder& out) {
                out.float64(100);
                out.u32(1'000);
                out.u32(100);
                out.u32(0);
                out.boolean(true);
                out.u8(0);
            }));
        bytes rest;
        raw_client::result_of(answer, nullptr, &rest);
        decoder in{rest, bounds_};
        return in.u32();
    }
    void monitor(std::uint32_t subscription, std::uint32_t first, std::uint32_t count,
                 const item_wish& like) {
        client_.call(client_.request(id::create_monitored_items_request_binary, [&](encoder& out) {
            out.u32(subscription);
            out.u32(2);
            out.u32(count);
            for (std::uint32_t at = 0; at < count; ++at) {
                raw_client::write_id(out, std::to_string(first + at));
                out.u32(13);
                out.string({});
                out.qualified_name(0, {});
                out.u32(2);
                item_wish wish = like;
                wish.client_handle = first + at;
                subscriber::write_parameters(out, wish);
            }
        }));
    }
    bytes publish_request() {
        return client_.request(id::publish_request_binary, [](encoder& out) {
            out.u32(1);
            out.u32(0);
            out.u32(0);
        });
    }
    bool take(transport::engine& engine, std::size_t& got) {
        transport::send_batch batch;
        engine.pull(batch, time.now());
        for (const auto segment : batch.segments()) {
            got += segment[3] == std::byte{'F'} ? 1U : 0U;
            bytes_out += segment.size();
        }
        for (const std::size_t size : batch.message_sizes()) {
            engine.written({size, {}});
        }
        return !batch.empty();
    }

    limits bounds_{};
    server host_;
    raw_client client_;
    std::vector<std::uint32_t> ids_{};
    bytes wire_{};
    std::size_t request_size_ = 0;
    std::uint32_t round_ = 0;
};

}  // namespace tagferry::opcua::test
