// Everything the process counts, for Prometheus: operations and what they allocated, pools,
// transport, tags, connections, shards, the process itself. Every series exists from the first
// scrape on. Collected on a worker thread while the shards run: reads atomics only.
#pragma once

#include "gateway/expose/source_directory.hpp"
#include "gateway/expose/web/writes.hpp"
#include "gateway/health/reload_record.hpp"
#include "gateway/log/log.hpp"
#include "gateway/tags/tag_feed.hpp"
#include "gateway/tags/tag_table.hpp"
#include "protocols/opcua/server/server.hpp"
#include "transport/threads/shard.hpp"
#include "transport/threads/worker_pool.hpp"

#include <prometheus/collectable.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway {

/// What is counted where. Everything outlives the metrics; pointers may be null.
struct metrics_sources {
    const tag_table* table = nullptr;
    const source_directory* sources = nullptr;
    std::vector<const transport::shard*> shards;
    const transport::worker_pool* workers = nullptr;
    std::vector<const tag_feed*> feeds;
    const log::logger* logger = nullptr;
    const opcua::server* opcua = nullptr;
    const web_writes* writes = nullptr;
    const reload_record* reloads = nullptr;
    std::string_view version;  ///< static storage
};

class metrics final : public prometheus::Collectable {
  public:
    explicit metrics(metrics_sources from) : from_(std::move(from)) {}
    std::vector<prometheus::MetricFamily> Collect() const override;

  private:
    metrics_sources from_;
};

}  // namespace tagferry::gateway
