// Changes for the OPC UA server's monitored items, from the feed of its shard.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "gateway/tags/tag_feed.hpp"
#include "gateway/tags/tag_table.hpp"
#include "protocols/opcua/backend/feed.hpp"
#include "transport/memory/zeroed_memory.hpp"
#include "transport/threads/shard.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagferry::gateway {

struct opcua_feed_limits {
    std::size_t queued_tags = 100'000;
    std::size_t ring_bytes = std::size_t{4} * 1024 * 1024;  ///< of each writing shard
};

class opcua_feed final : public opcua::feed_backend,
                         private transport::next_turn_participant,
                         private transport::sweep_participant {
  public:
    /// Adds a feed to the table, so before the first tag is.
    /// @param writers writing shards. Throws std::length_error when the table has no place for
    ///   another feed.
    opcua_feed(transport::shard& owner, const model_access& models, tag_table& table,
               std::size_t writers, const opcua_feed_limits& limits);

    bool watch(const opcua::call& context, opcua::tag_handle handle,
               opcua::feed_kind kind) override;
    void unwatch(const opcua::call& context, opcua::tag_handle handle,
                 opcua::feed_kind kind) override;
    void arm(const opcua::call& context) override;
    std::size_t drain_latest(std::span<opcua::feed_mark> into) override;
    std::size_t drain_queued(std::span<opcua::feed_sample> into) override;

    const tag_feed& feed() const noexcept { return feed_; }

  private:
    struct watched {
        std::uint32_t generation = 0;
        std::uint16_t latest = 0;
        std::uint16_t queued = 0;
    };

    static void wake(void* object);
    static void woken(void* object, std::uint64_t, std::uint64_t);
    void next_turn(transport::time_point now) override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override { next_turn(now); }
    void look();
    bool show(const queued_sample& from, opcua::feed_sample& to) noexcept;
    void show_overflow(std::uint32_t index, opcua::feed_sample& to) noexcept;

    transport::shard& shard_;
    const model_access& models_;
    tag_table& table_;
    opcua_feed_limits limits_;
    tag_feed feed_;
    std::size_t number_ = 0;
    transport::zeroed_array<watched> watched_;  // by table index
    std::size_t queued_tags_ = 0;
    bool latest_news_ = false;
    bool queued_news_ = false;
    transport::completion_sink* sink_ = nullptr;
    transport::completion_token token_{};
    std::vector<std::byte> overflow_value_;
};

}  // namespace tagferry::gateway
