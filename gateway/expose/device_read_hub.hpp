// Device reads asked for on one shard, wherever the sources live: splits a request by connection,
// asks each source on its own shard, and tells the asker once when the last has answered or the
// deadline has passed.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "transport/engine.hpp"
#include "transport/memory/generation_table.hpp"
#include "transport/threads/shard.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagferry::gateway {

struct device_read_limits {
    std::size_t requests = 16;  ///< outstanding at once
    std::size_t tags_per_request = 10'000;
    std::size_t connections_per_request = 128;
};

/// What the asker's sink is resumed with.
struct device_read_codes {
    std::uint32_t completed = 0;
    std::uint32_t timed_out = 0;
    std::uint32_t no_communication = 0;
    std::uint32_t busy = 0;
};

/// Lives on the asking shard; destroyed when neither that shard nor a source's runs any more.
/// Allocates at construction only.
class device_read_hub final : private device_read_listener,
                              private transport::sweep_participant,
                              private transport::next_turn_participant {
  public:
    /// All references outlive the hub.
    device_read_hub(transport::shard& asking, const model_access& models,
                    const source_directory& sources, const device_read_codes& codes,
                    const device_read_limits& limits);
    ~device_read_hub();

    /// Resumes `sink` exactly once, in a later turn, at the deadline at the latest.
    /// @param tags copied; stale ones are skipped.
    /// @return false when a limit is reached: nothing was started.
    bool start(std::span<const tag_handle> tags, transport::time_point deadline,
               transport::completion_sink& sink, transport::completion_token token);

    /// The sink is not resumed for this token any more.
    void cancel(const transport::completion_sink& sink, transport::completion_token token) noexcept;

    std::size_t outstanding() const noexcept { return requests_.size(); }

  private:
    /// One connection's share of a request. Its owner's shard reads it, its `ended` is all that
    /// is written there.
    struct part {
        device_read_hub* hub = nullptr;
        const source_place* place = nullptr;
        std::span<const tag_handle> tags{};
        transport::completion_token request{};
        std::atomic<std::uint32_t> ended{0};  ///< 1 + device_read_result
        bool counted = false;
    };
    struct routed_tag {
        std::uint32_t connection = 0;
        tag_handle tag{};
    };
    struct request {
        transport::completion_sink* sink = nullptr;  ///< null: told already, or cancelled
        transport::completion_token token{};
        transport::time_point deadline{};
        std::uint32_t code = 0;  ///< of what has ended badly so far, or `completed`
        std::size_t parts_open = 0;
        std::vector<routed_tag> routed;
        std::vector<tag_handle> tags;
        std::vector<part> parts;
    };

    void device_read_finished(std::uint64_t ticket, device_read_result result) override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override;
    void next_turn(transport::time_point now) override;

    std::size_t route(request& to, std::span<const tag_handle> tags);
    static void run_part(void* object, std::uint64_t, std::uint64_t);
    static void part_ended(void* object, std::uint64_t, std::uint64_t);
    void begin(part& which);
    void end(part& which, device_read_result result);
    void take_ended(transport::completion_token name, transport::time_point now);
    void tell(request& about, std::uint32_t code, transport::time_point now);

    transport::shard& shard_;
    const model_access& models_;
    const source_directory& sources_;
    device_read_codes codes_;
    device_read_limits limits_;
    transport::generation_table<request> requests_;
};

}  // namespace tagferry::gateway
