#include "web/api/list_resource.hpp"

#include "web/http/conditional.hpp"
#include "web/http/json_writer.hpp"

#include <array>
#include <charconv>

namespace tagferry::web {
namespace {

/// `ETag: "revision"` and its line end.
class entity_tag {
  public:
    explicit entity_tag(std::uint64_t revision) noexcept {
        if (revision == 0) {
            return;
        }
        size_ = prefix.copy(text_.data(), text_.size());
        text_[size_++] = '"';
        const auto end =
            std::to_chars(text_.data() + size_, text_.data() + text_.size() - 3, revision, 16).ptr;
        size_ = static_cast<std::size_t>(end - text_.data());
        text_[size_++] = '"';
        text_[size_++] = '\r';
        text_[size_++] = '\n';
    }
    std::string_view field() const noexcept { return {text_.data(), size_}; }
    /// With its quotes.
    std::string_view value() const noexcept {
        return field().substr(prefix.size(), size_ - prefix.size() - 2);
    }

  private:
    static constexpr std::string_view prefix = "ETag: ";

    std::array<char, 32> text_{};
    std::size_t size_ = 0;
};

}  // namespace

bool list_resource::answer_unchanged(exchange& with, std::uint64_t revision) {
    const entity_tag tag(revision);
    if (!names_entity_tag(with.request().field(request_field::if_none_match), tag.value())) {
        return false;
    }
    with.answer.begin_empty(tag.field(), http_status::not_modified, caching::revalidate);
    return true;
}

progress list_resource::advance(exchange& with) {
    auto& state = with.state<list_state>();
    if (!state.started) {
        const entity_tag tag(state.revision);
        if (!with.answer.begin(http_status::ok, "application/json", tag.field(),
                               state.revision == 0 ? caching::no_store : caching::revalidate)) {
            return with.refuse(outcome::busy);
        }
        with.out().put("{\"items\":[");
        state.started = true;
    }
    const progress how = put_items(with, state);
    return how == progress::finished ? put_end(with, state) : how;
}

// `finished` when all items are written.
progress list_resource::put_items(exchange& with, list_state& state) {
    output_chain& out = with.out();
    while (state.remaining != 0 && !state.ended) {
        if (out.slots_held() >= with.limits().output_high_water_slots) {
            return progress::more;
        }
        const output_chain::mark before = out.position();
        const list_state saved = state;
        if (state.any) {
            out.put(',');
        }
        const outcome got = put_next(with, state);
        if (got == outcome::done && out.ok()) {
            state.any = true;
            state.oversized = false;
            --state.remaining;
            continue;
        }
        const bool over_cap = out.short_of() == output_chain::shortage::cap;
        out.rollback(before);
        if (got == outcome::done) {
            state = saved;
            // With nothing else in the output, waiting would not make it fit.
            state.oversized = over_cap && out.slots_held() <= 1;
            if (state.oversized) {
                continue;
            }
            return progress::more;
        }
        if (got == outcome::later) {
            return progress::later;
        }
        state.ended = true;
    }
    return progress::finished;
}

progress list_resource::put_end(exchange& with, list_state& state) {
    output_chain& out = with.out();
    const output_chain::mark before = out.position();
    state.ended = state.ended || is_last(with, state);
    out.put("],\"next\":");
    if (state.ended) {
        out.put("null}");
    } else {
        constexpr std::size_t longest = 16;
        out.put('"');
        if (char* const at = out.claim(longest)) {
            const auto end = std::to_chars(at, at + longest, state.position, 16).ptr;
            out.unclaim(longest - static_cast<std::size_t>(end - at));
        }
        out.put("\"}");
    }
    if (!out.ok()) {
        out.rollback(before);
        return progress::more;
    }
    return progress::finished;
}

// Tries the item after the last one, so that a full last page ends with `null`.
bool list_resource::is_last(exchange& with, const list_state& state) {
    output_chain& out = with.out();
    const output_chain::mark before = out.position();
    list_state ahead = state;
    const outcome got = put_next(with, ahead);
    out.rollback(before);
    return got != outcome::done && got != outcome::later;
}

}  // namespace tagferry::web
