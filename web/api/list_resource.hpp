// `{"items":[…],"next":cursor or null}`: what all lists have in common. A list is written item by
// item, and stops between items when enough waits to be sent.
#pragma once

#include "web/api/parameters.hpp"
#include "web/backend/browse.hpp"
#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagferry::web {

/// Where a list stands. `position` and what else a list moves along is put back when an item did
/// not fit and has to be written again.
struct list_state {
    std::uint64_t position = 0;  ///< of the next item: the cursor
    std::size_t remaining = 0;   ///< items this answer may still hold
    std::string_view filter;     ///< still encoded
    std::uint64_t revision = 0;  ///< of what is listed, for the ETag; 0: it changes by itself
    std::size_t query_position = 0;
    node_handle parent;
    bool by_name = false;    ///< items are named one by one in the query
    bool started = false;    ///< the head and the opening are written
    bool any = false;        ///< an item is written, the next needs a comma
    bool ended = false;      ///< there are no more items
    bool oversized = false;  ///< the next item was too large even alone: leave its bulk out
};

class list_resource : public resource {
  public:
    progress advance(exchange& with) override;

  protected:
    ~list_resource() = default;

    /// Answers 304 and gives true when the asker has the list of this revision already.
    static bool answer_unchanged(exchange& with, std::uint64_t revision);

    /// Writes the next item, moving `state` past it. `done`, `end` or `later`; any other outcome
    /// ends the list.
    virtual outcome put_next(exchange& with, list_state& state) = 0;

  private:
    progress put_items(exchange& with, list_state& state);
    progress put_end(exchange& with, list_state& state);
    bool is_last(exchange& with, const list_state& state);
};

}  // namespace tagferry::web
