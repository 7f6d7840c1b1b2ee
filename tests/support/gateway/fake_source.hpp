// A source without a protocol: a device that a test plays, which takes every tag and answers in
// the next turn, or when it is let.
#pragma once

#include "gateway/sources/source.hpp"
#include "gateway/tags/tag_writer.hpp"
#include "transport/threads/shard.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tagferry::gateway::test {

/// Keeps the contract of `source`; source_contract_test.cpp holds it to that. Allocates.
class fake_source final : public source, private transport::next_turn_participant {
  public:
    static constexpr std::size_t max_reads = 16;
    static constexpr std::size_t max_writes = 64;

    /// One write as it reached the device.
    struct received {
        tag_handle tag{};
        std::vector<std::byte> value{};
        std::uint32_t first_element = 0;
        std::uint32_t elements = 0;  ///< 0: the whole value
    };

    /// @param observer may be null. All references outlive it.
    fake_source(transport::shard& owner, tag_table& table, tag_table::owner_id owner_id,
                source_observer* observer = nullptr)
        : shard_(owner),
          table_(table),
          writer_(table, owner_id, owner.index()),
          observer_(observer) {}

    std::string_view protocol() const noexcept override { return "fake"; }

    void apply(const tag_model& model, const connection_definition& connection) override {
        const auto old = std::exchange(tags_, {});
        for (const tag_definition& tag : model.tags_of(connection)) {
            const auto known = old.find(tag.handle.index);
            const bool same = known != old.end() && known->second.handle == tag.handle;
            tags_[tag.handle.index] =
                same ? known->second
                     : held_tag{tag.handle, std::vector<std::byte>(table_.value_size(tag.handle))};
        }
        publish_all();
    }
    void start() override {
        running_ = true;
        set_state(source_state::connecting);
        shard_.at_next_turn(*this);
    }
    void stop() override {
        running_ = false;
        shard_.at_next_turn(*this);
    }
    bool stopped() const noexcept override {
        return !running_ && status().state == source_state::stopped && reads_.empty() &&
               writes_.empty();
    }
    bool read(std::span<const tag_handle> tags, std::uint64_t ticket,
              device_read_listener& listener) override {
        if (reads_.size() == max_reads) {
            return false;
        }
        reads_.push_back({ticket, &listener, {tags.begin(), tags.end()}});
        shard_.at_next_turn(*this);
        return true;
    }
    reason_id write(const source_write& write, std::uint64_t ticket,
                    write_listener& listener) override {
        const held_tag* const tag = find(write.tag);
        if (tag == nullptr) {
            return reason_id::tag_removed;
        }
        if (status().state != source_state::up) {
            return reason_id::write_not_sent;
        }
        // Of a part only the tag's own size is an upper bound here.
        if (write.elements == 0 ? write.value.size() != tag->value.size()
                                : write.value.size() > tag->value.size()) {
            return reason_id::write_type_mismatch;
        }
        if (refusal_ != reason_id::none || writes_.size() == max_writes) {
            return refusal_ != reason_id::none ? refusal_ : reason_id::busy;
        }
        writes_.push_back({ticket,
                           &listener,
                           {write.tag,
                            {write.value.begin(), write.value.end()},
                            write.first_element,
                            write.elements}});
        shard_.at_next_turn(*this);
        return reason_id::none;
    }
    bool browse(std::string_view, browse_listener&) override { return false; }
    source_status status() const noexcept override {
        const std::lock_guard lock(mutex_);
        return shown_;
    }

    // The device. All calls on the source's shard, in a turn.

    /// The link breaks, or can be had again.
    void set_reachable(bool reachable) {
        reachable_ = reachable;
        shard_.at_next_turn(*this);
    }
    /// While held the device takes requests and does not answer.
    void hold(bool held) {
        held_ = held;
        shard_.at_next_turn(*this);
    }
    /// How writes end that are answered from here on.
    void answer_with(const write_outcome& outcome) { answer_ = outcome; }
    /// Writes are refused with this before they are sent; `none`: no more.
    void refuse_with(reason_id reason) { refusal_ = reason; }
    /// Everything that was sent, in order.
    const std::vector<received>& writes_received() const { return received_; }

  private:
    struct held_tag {
        tag_handle handle{};
        std::vector<std::byte> value{};
    };
    struct pending_read {
        std::uint64_t ticket = 0;
        device_read_listener* listener = nullptr;
        std::vector<tag_handle> tags{};
    };
    struct pending_write {
        std::uint64_t ticket = 0;
        write_listener* listener = nullptr;
        received what{};
        bool started = false;
    };

    held_tag* find(tag_handle tag) {
        const auto found = tags_.find(tag.index);
        return found == tags_.end() || !(found->second.handle == tag) ? nullptr : &found->second;
    }

    void next_turn(transport::time_point) override {
        const source_state before = status().state;
        if (!running_) {
            if (before != source_state::stopped) {
                mark(reason_id::shutting_down);
                set_state(source_state::stopped);
            }
        } else if (!reachable_ && before != source_state::waiting) {
            mark(reason_id::link_down);
            set_state(source_state::waiting);
        } else if (reachable_ && before != source_state::up) {
            set_state(source_state::up);
            publish_all();
        }
        if (status().state == source_state::up) {
            answer();
        } else {
            end_all();
        }
    }

    /// Hands to the device what has no earlier write of its tag before it.
    void start_writes() {
        for (std::size_t i = 0; i < writes_.size(); ++i) {
            const auto same = [&](const pending_write& each) {
                return each.what.tag == writes_[i].what.tag;
            };
            const auto here = writes_.begin() + static_cast<std::ptrdiff_t>(i);
            if (here->started || std::any_of(writes_.begin(), here, same)) {
                continue;
            }
            if (!here->listener->write_starting(here->ticket)) {
                const pending_write refused = *here;
                writes_.erase(here);
                refused.listener->write_finished(refused.ticket, {});
                i = static_cast<std::size_t>(-1);
                continue;
            }
            here->started = true;
            received_.push_back(here->what);
        }
    }

    void answer() {
        start_writes();
        if (held_) {
            return;
        }
        const write_outcome outcome = answer_;
        std::vector<pending_write> waiting;
        for (const pending_write& each : std::exchange(writes_, {})) {
            if (!each.started) {
                waiting.push_back(each);
                continue;
            }
            held_tag* const tag = find(each.what.tag);
            if (tag != nullptr && outcome.reason == reason_id::write_accepted) {
                const std::vector<std::byte>& bytes = each.what.value;
                const std::size_t one = bytes.size() / std::max(each.what.elements, 1U);
                std::ranges::copy(bytes, tag->value.begin() + static_cast<std::ptrdiff_t>(
                                                                  one * each.what.first_element));
                publish(*tag);
            }
            each.listener->write_finished(each.ticket, outcome);
        }
        writes_.insert(writes_.begin(), waiting.begin(), waiting.end());
        if (!writes_.empty()) {
            shard_.at_next_turn(*this);
        }
        for (const pending_read& each : std::exchange(reads_, {})) {
            for (const tag_handle wanted : each.tags) {
                if (const held_tag* const tag = find(wanted)) {
                    publish(*tag);
                }
            }
            each.listener->device_read_finished(each.ticket, device_read_result::completed);
        }
    }

    void end_all() {
        for (const pending_write& each : std::exchange(writes_, {})) {
            each.listener->write_finished(each.ticket,
                                          {each.started ? reason_id::write_outcome_unknown_link_lost
                                                        : reason_id::write_not_sent});
        }
        for (const pending_read& each : std::exchange(reads_, {})) {
            each.listener->device_read_finished(each.ticket, device_read_result::no_communication);
        }
    }

    void publish(const held_tag& tag) {
        const transport::wall_time_ns now = shard_.time_source().wall_now();
        writer_.publish(tag.handle, status_code::good, reason_id::none, now, now, tag.value);
    }
    void mark(reason_id reason) {
        const transport::wall_time_ns now = shard_.time_source().wall_now();
        marked_ = reason;
        for (const auto& [index, tag] : tags_) {
            writer_.publish_status(tag.handle, reason, now, now);
        }
    }
    void publish_all() {
        if (status().state == source_state::up) {
            for (const auto& [index, tag] : tags_) {
                publish(tag);
            }
        } else if (marked_ != reason_id::none) {
            mark(marked_);
        }
    }

    void set_state(source_state state) {
        source_state before = state;
        {
            const std::lock_guard lock(mutex_);
            std::swap(before, shown_.state);
            shown_.since = shard_.time_source().wall_now();
            shown_.connects += state == source_state::up ? 1U : 0U;
            shown_.connect_failures += state == source_state::waiting ? 1U : 0U;
            shown_.reason = state == source_state::up ? "" : "the test says so";
        }
        if (observer_ != nullptr && before != state) {
            observer_->source_changed(*this, before);
        }
    }

    transport::shard& shard_;
    tag_table& table_;
    tag_writer writer_;
    source_observer* observer_;
    std::map<std::uint32_t, held_tag> tags_{};
    std::vector<pending_read> reads_{};
    std::vector<pending_write> writes_{};
    std::vector<received> received_{};
    write_outcome answer_{reason_id::write_accepted};
    reason_id refusal_ = reason_id::none;
    reason_id marked_ = reason_id::none;
    bool running_ = false;
    bool reachable_ = true;
    bool held_ = false;
    mutable std::mutex mutex_{};
    source_status shown_{};
};

}  // namespace tagferry::gateway::test
