// Writes of the web, carried to the sources on their shards.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "gateway/log/log.hpp"
#include "transport/memory/generation_table.hpp"
#include "transport/memory/zeroed_memory.hpp"
#include "transport/threads/shard.hpp"
#include "web/backend/writes.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::gateway {

struct web_write_limits {
    std::size_t requests = 16;         ///< outstanding at once
    std::size_t value_bytes = 65'536;  ///< of all values of one request together
};

/// What web writes counted since the start. Any thread.
struct web_write_counts {
    std::uint64_t accepted = 0;
    std::uint64_t rejected = 0;
    std::uint64_t refused = 0;  ///< by the device
    std::uint64_t not_sent = 0;
    std::uint64_t unknown = 0;
    std::uint64_t partial = 0;
};

/// Lives on the web shard; destroyed when neither that shard nor a source's runs any more.
/// Allocates at construction only. Each item is one task for its source's shard, posted in the
/// request's order; the source keeps the order of a tag's writes.
class web_writes final : public web::writes,
                         private write_listener,
                         private transport::sweep_participant,
                         private transport::next_turn_participant {
  public:
    /// All references outlive it. @param sources complete.
    web_writes(transport::shard& asking, const model_access& models,
               const source_directory& sources, log::logger& logger,
               const web_write_limits& limits);

    web::outcome write(const web::call& context, std::span<const web::write_item> items,
                       std::string_view reason) override;
    void abandon(transport::completion_sink& sink,
                 transport::completion_token token) noexcept override;
    web::write_result refuse(const web::call& context, std::string_view path, std::string_view text,
                             web::write_refusal why) override;
    std::size_t capacity() const noexcept override { return limits_.value_bytes; }

    web_write_counts counts() const noexcept;

  private:
    /// Who decides about an item: whichever of the two shards moves it on from `waiting`.
    enum class stage : std::uint8_t {
        waiting,   ///< with the source at most: nothing of it has left
        started,   ///< its outcome depends on the device
        given_up,  ///< the asker has its outcome; it is not to be sent any more
    };
    template <std::size_t Size>
    struct short_text {
        std::array<char, Size> bytes;
        std::size_t size;
        void set(std::string_view from) noexcept { size = from.copy(bytes.data(), bytes.size()); }
        std::string_view view() const noexcept { return {bytes.data(), size}; }
    };
    struct item {
        web_writes* hub;
        const source_place* place;
        tag_handle tag;
        std::span<const std::byte> value;
        transport::time_point deadline;
        web::write_result* result;
        stage at;      // by `std::atomic_ref`
        bool ended;    // likewise: `outcome` stands, the source's shard is through
        bool settled;  // the asker's: its result is final
        write_outcome outcome;
        short_text<96> path;
        short_text<64> text;
    };
    struct request {
        transport::completion_sink* sink = nullptr;  ///< null: told, or gone
        transport::completion_token token{};
        transport::time_point deadline{};
        bool abandoned = false;
        std::size_t count = 0;
        std::size_t values_used = 0;
        short_text<64> user{};
        short_text<64> peer{};
        short_text<128> reason{};
    };
    using counter = std::atomic<std::uint64_t>;

    bool write_starting(std::uint64_t ticket) override;
    void write_finished(std::uint64_t ticket, const write_outcome& outcome) override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override { next_turn(now); }
    void next_turn(transport::time_point now) override;

    std::span<item> items_of(transport::completion_token name) const noexcept;
    reason_id accept(request& to, item& made, const web::write_item& wanted,
                     std::span<std::byte> values) const noexcept;
    void begin(request& to, item& made, const web::write_item& wanted, std::span<std::byte> values);
    static void run_item(void* object, std::uint64_t, std::uint64_t);
    static void item_ended(void* object, std::uint64_t, std::uint64_t);
    void end(item& which, const write_outcome& outcome) noexcept;
    void settle(const request& about, item& which, const write_outcome& outcome) noexcept;
    void give_up(const request& about, item& which) noexcept;
    bool look_at(const request& about, std::span<item> items, transport::time_point now,
                 bool& all_ended) noexcept;
    void report(const web::write_result& result, std::string_view path, std::string_view text,
                std::string_view user, std::string_view peer, std::string_view reason) noexcept;

    transport::shard& shard_;
    const model_access& models_;
    const source_directory& sources_;
    log::logger& logger_;
    web_write_limits limits_;
    transport::generation_table<request> requests_;
    transport::zeroed_array<item> items_;        ///< `max_items` of each request
    transport::zeroed_array<std::byte> values_;  ///< `value_bytes` of each request
    std::array<counter, 6> counts_{};            // in the order of `web_write_counts`
};

}  // namespace tagferry::gateway
