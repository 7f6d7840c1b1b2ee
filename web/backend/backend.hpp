// Everything the web room asks of the gateway, together. The gateway implements each interface;
// all outlive the server. Every call is made on the web shard's thread.
#pragma once

#include "web/backend/browse.hpp"
#include "web/backend/connections.hpp"
#include "web/backend/execution.hpp"
#include "web/backend/feed.hpp"
#include "web/backend/identity.hpp"
#include "web/backend/overview.hpp"
#include "web/backend/request_log.hpp"
#include "web/backend/values.hpp"
#include "web/backend/writes.hpp"

#include <prometheus/collectable.h>

#include <span>

namespace tagferry::web {

struct backend {
    web::values& values;
    web::browse& browse;
    web::connections& connections;
    web::identity& identity;
    web::overview& overview;
    web::execution& execution;
    web::feed& feed;
    web::writes& writes;
    web::request_log& requests;
    /// What `/metrics` shows. Collected on a worker thread, at most as many at once as the limits
    /// say; must be callable there while the shards run.
    std::span<const prometheus::Collectable* const> metrics;
};

}  // namespace tagferry::web
