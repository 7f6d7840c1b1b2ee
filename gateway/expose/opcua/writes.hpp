// Writes of the OPC UA server, carried to the sources on their shards.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "protocols/opcua/backend/writes.hpp"
#include "transport/memory/generation_table.hpp"
#include "transport/threads/shard.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagferry::gateway {

struct opcua_write_limits {
    std::size_t requests = 32;  ///< outstanding at once
    std::size_t items_per_request = 10'000;
    std::size_t connections_per_request = 128;
};

/// Bytes of a text or an array of texts that can be written.
inline constexpr std::size_t largest_written_text = 4096;

/// Lives on the OPC UA shard; destroyed when neither that shard nor a source's runs any more.
/// Allocates at construction only.
class opcua_writes final : public opcua::writes_backend,
                           private write_listener,
                           private transport::sweep_participant,
                           private transport::next_turn_participant {
  public:
    /// All references outlive it. @param sources complete.
    opcua_writes(transport::shard& asking, const model_access& models,
                 const source_directory& sources, const opcua_write_limits& limits);
    ~opcua_writes();

    bool start_write(const opcua::call& context, std::span<const opcua::write_item> items,
                     std::span<opcua::status_code> outcomes) override;

  private:
    struct request;
    struct part;
    /// How far an item has got; only the source's shard changes it.
    enum class progress : std::uint8_t {
        waiting,      ///< not passed on
        with_source,  ///< accepted by the source, which has not sent any of it
        started,      ///< the outcome depends on the device
        ended,        ///< its outcome stands
    };
    struct routed_item {
        part* of = nullptr;
        std::uint32_t connection = 0;
        std::uint32_t item = 0;
        std::uint16_t capacity = 0;  ///< of a text; 0 for everything else
        std::uint32_t slot_bytes = 0;
        std::uint32_t first_element = 0;  ///< of a part of an array
        std::uint32_t elements = 0;       ///< likewise; 0: the whole value
        progress state = progress::waiting;
    };
    /// Who may touch a part, and the items and outcomes that belong to the asker.
    enum class part_state : std::uint8_t {
        resting,   ///< on its way to the source's shard, or waiting for the source
        working,   ///< the source's shard is at it
        ended,     ///< the source's shard will not touch it again
        given_up,  ///< the asker has its outcomes; the source's shard will only end it
    };
    /// One connection's share of a request. Its items are passed on to the source in their order,
    /// after those of the requests before it; the source keeps the order of each tag's writes.
    struct part {
        opcua_writes* hub = nullptr;
        request* owner = nullptr;
        const source_place* place = nullptr;
        std::span<routed_item> items{};
        std::size_t next = 0;  ///< to be passed on
        std::size_t open = 0;  ///< passed on and not ended
        std::atomic<part_state> state{part_state::resting};
        bool counted = false;
    };
    /// Of one source, on its shard.
    struct line {
        std::vector<part*> parts{};  ///< not passed on completely, oldest first
        std::size_t open = 0;        ///< items of this hub that the source has
    };
    struct request {
        transport::completion_sink* sink = nullptr;  ///< null: told at the deadline
        transport::completion_token token{};
        transport::time_point deadline{};
        std::span<const opcua::write_item> items{};
        std::span<opcua::status_code> outcomes{};
        std::size_t part_count = 0;
        std::size_t parts_open = 0;
        std::vector<routed_item> routed;
        std::vector<part> parts;
    };

    bool write_starting(std::uint64_t ticket) override;
    void write_finished(std::uint64_t ticket, const write_outcome& outcome) override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override { next_turn(now); }
    void next_turn(transport::time_point now) override;

    reason_id check(const opcua::write_item& item, routed_item& to) const noexcept;
    bool route(request& to);
    static void run_part(void* object, std::uint64_t, std::uint64_t);
    static void part_ended(void* object, std::uint64_t, std::uint64_t);
    line& line_of(const part& which) noexcept;
    void work_off(line& of);
    static bool begin_work(part& which) noexcept;
    bool pass_on(part& which, line& of);
    void rest_or_end(part& which);
    reason_id send(routed_item& item);
    static void set_outcome(routed_item& item, reason_id reason) noexcept;
    static bool give_up(part& which) noexcept;

    transport::shard& shard_;
    const model_access& models_;
    const source_directory& sources_;
    opcua_write_limits limits_;
    transport::generation_table<request> requests_;
    std::vector<line> lines_;  ///< by place in `sources_`
};

}  // namespace tagferry::gateway
