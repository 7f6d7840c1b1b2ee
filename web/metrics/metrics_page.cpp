#include "web/metrics/metrics_page.hpp"

#include "transport/memory/operations.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace tagferry::web {
namespace {

constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace

// One collection: taken by a request, run by a worker, free again when both are done with it.
class metrics_page::scrape final : public job {
  public:
    explicit scrape(const std::vector<const prometheus::Collectable*>& sources) noexcept
        : sources_(sources) {}

    void run() noexcept override {
        const transport::operation_scope charged(transport::kind_control);
        try {
            std::vector<prometheus::MetricFamily> families;
            for (const prometheus::Collectable* const source : sources_) {
                auto part = source->Collect();
                std::move(part.begin(), part.end(), std::back_inserter(families));
            }
            std::ostringstream stream;
            prometheus::TextSerializer().Serialize(stream, families);
            text = std::move(stream).str();
        } catch (const std::exception&) {
            // A page half collected would read as counters that went away.
            text.clear();
        }
    }

    bool taken = false;
    bool running = false;
    transport::completion_sink* asker = nullptr;  // null: gone
    transport::completion_token asker_token;
    std::string text;

  private:
    const std::vector<const prometheus::Collectable*>& sources_;
};

struct metrics_page::page_state {
    std::size_t index;
    std::size_t sent;
};

metrics_page::metrics_page(execution& executor,
                           const std::vector<const prometheus::Collectable*>& sources,
                           std::size_t scrapes)
    : execution_(executor) {
    for (std::size_t i = 0; i < scrapes; ++i) {
        scrapes_.push_back(std::make_unique<scrape>(sources));
    }
}

metrics_page::~metrics_page() = default;

progress metrics_page::begin(exchange& with) {
    const auto free = std::find_if(scrapes_.begin(), scrapes_.end(),
                                   [](const auto& candidate) { return !candidate->taken; });
    if (free == scrapes_.end()) {
        return with.refuse(outcome::busy);
    }
    scrape& chosen = **free;
    const auto index = static_cast<std::size_t>(free - scrapes_.begin());
    if (!execution_.submit(chosen, *this, {static_cast<std::uint32_t>(index), 0})) {
        return with.refuse(outcome::busy);
    }
    const call context = with.context();
    chosen.taken = true;
    chosen.running = true;
    chosen.asker = context.sink;
    chosen.asker_token = context.token;
    with.make_state<page_state>(page_state{index, 0});
    return progress::waiting;
}

void metrics_page::resume(transport::completion_token token, std::uint32_t result,
                          transport::time_point now) {
    scrape& done = *scrapes_[token.index];
    done.running = false;
    if (done.asker == nullptr) {
        done.taken = false;
        return;
    }
    done.asker->resume(done.asker_token, result, now);
}

progress metrics_page::resumed(exchange& with, std::uint32_t) {
    auto& state = with.state<page_state>();
    scrape& done = *scrapes_[state.index];
    if (done.text.empty()) {
        done.taken = false;
        return with.refuse({.status = http_status::internal_error,
                            .code = "metrics_failed",
                            .detail = "The metrics could not be collected."});
    }
    if (!with.answer.begin_sized(http_status::ok, content_type, done.text.size())) {
        done.taken = false;
        return with.refuse(outcome::busy);
    }
    return advance(with);
}

progress metrics_page::advance(exchange& with) {
    auto& state = with.state<page_state>();
    scrape& done = *scrapes_[state.index];
    const progress how = put_body(with, done.text, state.sent);
    done.taken = how != progress::finished;
    return how;
}

void metrics_page::abandoned(exchange& with) noexcept {
    scrape& left = *scrapes_[with.state<page_state>().index];
    left.asker = nullptr;
    left.taken = left.running;
}

}  // namespace tagferry::web
