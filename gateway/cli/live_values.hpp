// The stream of `/api/v1/stream` as a client keeps it: subscribed again after every loss, entries
// made whole again.
#pragma once

#include "gateway/cli/gateway_client.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tagferry::gateway::cli {

/// One value as it changed. Texts are valid during the call.
struct live_value {
    const std::string& path;
    const std::string& type;
    const std::string& unit;
    const nlohmann::json& value;
    std::string_view status;
    std::int64_t source_timestamp_ms = 0;  ///< since 1970; 0: none
    std::string_view reason{};             ///< empty: none
};

struct live_options {
    std::vector<std::string> tags;  ///< paths and patterns
    int min_interval_ms = 100;
};

/// What became of the last wait.
enum class live_event { handled, time_passed, interrupted, lost, no_tags };

/// One subscription on one stream.
class live_values {
  public:
    using taker = std::function<void(const live_value&)>;

    /// @param client outlives this.
    live_values(gateway_client& client, live_options options, taker take);

    /// Opens the stream and subscribes. Throws client_fault.
    void open();
    /// Handles the next message: gives its values to the taker; subscribes again after a gap or a
    /// change of the tags. `no_tags`: nothing matches; `lost`: see client.close_reason(). Throws
    /// client_fault when the gateway refuses the subscription.
    live_event next(std::chrono::milliseconds longest);

  private:
    struct tag {
        std::string path;
        std::string type;
        std::string unit;
    };
    struct reason {
        std::string words;
        std::string remedy;
    };

    void subscribe();
    void begin(const nlohmann::json& message);
    void values(const nlohmann::json& message);
    void entry(const nlohmann::json& fields);
    live_event handle(const nlohmann::json& message);

    gateway_client& client_;
    live_options options_;
    taker take_;
    std::unordered_map<std::int64_t, reason> reasons_;
    std::vector<tag> tags_;
    std::int64_t id_ = 0;
    std::int64_t next_sequence_ = 1;
};

}  // namespace tagferry::gateway::cli
