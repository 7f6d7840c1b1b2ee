// What stands behind a path. The engine finds it through the site, starts it with one exchange
// and drives it until the answer is written.
#pragma once

#include "transport/memory/operations.hpp"
#include "web/backend/call.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::web {

class exchange;
struct http_request;

/// How far a resource got with an answer.
enum class progress : std::uint8_t {
    finished,  ///< the answer is written whole
    more,      ///< part of a body is written: `advance` is called when there is room for more
    waiting,   ///< an operation was started with the exchange's call: `resumed` is called
    later,     ///< stopped at a turn limit: `advance` is called in a later turn
};

/// One endpoint, shared by all connections; what belongs to one request lies in the exchange.
/// `begin` sees views into the receive buffer: a resource that does not finish in `begin` has
/// the exchange retain the request first.
class resource {
  public:
    virtual progress begin(exchange& with) = 0;

    /// Called after `more` and `later`.
    virtual progress advance(exchange& with);

    /// Called once after `waiting`. @param result what the operation was resumed with.
    virtual progress resumed(exchange& with, std::uint32_t result);

    /// The asker is gone, or waited too long, while `more`, `later` or `waiting`: release what
    /// was started. A backend operation must not resume the exchange after this.
    virtual void abandoned(exchange& with) noexcept;

  protected:
    ~resource() = default;
};

/// What the site says about a method and a path.
struct route_match {
    web::resource* resource = nullptr;  ///< null: see `allow`
    std::string_view allow;             ///< methods the path takes; empty: no such path
    std::string_view parameter;         ///< the variable part of the path, still encoded
    std::uint16_t handler = 0;          ///< place in `site::handlers`
    role needs = role::none;
    transport::operation_kind kind = transport::kind_other;
    bool any_host = false;             ///< whatever the Host field says: probes
    bool counts_as_operation = false;  ///< each answer is one operation of `kind`
};

class site {
  public:
    /// HEAD is routed as GET. Allocation-free.
    virtual route_match route(const http_request& request) const noexcept = 0;

    /// Labels of the request counters: route templates, the first for what no route took.
    virtual std::span<const std::string_view> handlers() const noexcept = 0;

  protected:
    ~site() = default;
};

}  // namespace tagferry::web
