// `/metrics`: collected and put into text on a worker thread, then sent from memory, so that a
// scrape costs the shard no more than its bytes.
#pragma once

#include "transport/engine.hpp"
#include "web/backend/execution.hpp"
#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"

#include <prometheus/collectable.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tagferry::web {

/// Text exposition format 0.0.4. At most `scrapes` at the same time; one more is answered 503.
/// Destroy only when no submitted job is outstanding (the worker pool has stopped).
class metrics_page final : public resource, public transport::completion_sink {
  public:
    /// @param sources collected on worker threads, by several at a time. May still grow until the
    ///   first request, and must outlive the page.
    metrics_page(execution& executor, const std::vector<const prometheus::Collectable*>& sources,
                 std::size_t scrapes);
    ~metrics_page();

    progress begin(exchange& with) override;
    progress advance(exchange& with) override;
    progress resumed(exchange& with, std::uint32_t result) override;
    void abandoned(exchange& with) noexcept override;

    /// A job is over. @param token its index names the scrape.
    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point now) override;

  private:
    class scrape;
    struct page_state;

    execution& execution_;
    std::vector<std::unique_ptr<scrape>> scrapes_;
};

}  // namespace tagferry::web
