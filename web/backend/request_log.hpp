// Requests that were not answered as asked, for the log.
#pragma once

#include "web/backend/call.hpp"

#include <cstdint>
#include <string_view>

namespace tagferry::web {

/// One of them. Views are read during the call only.
struct refused_request {
    std::uint16_t status = 0;  ///< of HTTP
    std::string_view method;
    std::string_view path;  ///< still encoded; empty where the request was no request
    std::string_view code;  ///< of the problem
    std::string_view reason;
};

/// Called on the web shard's thread; neither blocks nor allocates.
class request_log {
  public:
    /// For a credential that is missing or wrong, a request that is none, and what else may be an
    /// attack or a misconfiguration: statuses 400, 401, 403, 408, 413, 414, 421 and 431.
    virtual void refused(const actor& who, const refused_request& what) noexcept = 0;
    /// For faults of the gateway: 500.
    virtual void failed(const actor& who, const refused_request& what) noexcept = 0;

  protected:
    ~request_log() = default;
};

}  // namespace tagferry::web
