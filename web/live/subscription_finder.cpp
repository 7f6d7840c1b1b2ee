#include "web/live/subscription_finder.hpp"

#include "web/backend/pattern.hpp"
#include "web/live/stream_hub.hpp"

#include <algorithm>

namespace tagferry::web {
namespace {

constexpr std::size_t steps_at_once = 256;
/// A name is compared with those found before it.
constexpr std::size_t comparisons_at_once = 16'384;

using result = subscription_finder::result;

bool matches_any(std::string_view patterns, std::string_view path) noexcept {
    while (!patterns.empty()) {
        const std::size_t end = patterns.find('\0');
        if (matches(patterns.substr(0, end), path)) {
            return true;
        }
        patterns.remove_prefix(end + 1);
    }
    return false;
}

}  // namespace

result subscription_finder::step(subscription& which) noexcept {
    if (which.has_pattern_) {
        return walk(which);
    }
    return which.verifying_ ? verify_names(which) : find_names(which);
}

result subscription_finder::find_names(subscription& which) noexcept {
    const std::string_view all(which.patterns_.get(), which.patterns_size_);
    const std::size_t steps =
        std::min(steps_at_once, std::max<std::size_t>(1, comparisons_at_once / (which.count_ + 1)));
    for (std::size_t i = 0; i < steps && which.pattern_at_ < all.size(); ++i) {
        const std::string_view path =
            all.substr(which.pattern_at_, all.find('\0', which.pattern_at_) - which.pattern_at_);
        which.pattern_at_ += path.size() + 1;
        tag_handle tag;
        tag_row row;
        const outcome found = hub_.values().find(context_, path, tag);
        if (found == outcome::forbidden) {
            return refuse(which, "forbidden", "Your role may not read this tag.", {}, path);
        }
        if (found != outcome::done || hub_.values().describe(context_, tag, row) != outcome::done) {
            return refuse(which, "not_found", "There is no tag of this path.",
                          "GET /api/v1/tags lists what there is.", path);
        }
        if (has(which, tag)) {
            continue;
        }
        if (add(which, tag, description_of(row)) == result::refused) {
            return result::refused;
        }
    }
    return which.pattern_at_ < all.size() ? result::more : result::done;
}

result subscription_finder::walk(subscription& which) noexcept {
    const std::string_view all(which.patterns_.get(), which.patterns_size_);
    const bool single = all.find('\0') + 1 == all.size();
    const std::string_view pattern = single ? all.substr(0, all.size() - 1) : std::string_view();
    for (std::size_t i = 0; i < steps_at_once; ++i) {
        tag_row tag;
        const outcome next = hub_.values().next(context_, pattern, which.position_, tag);
        if (next == outcome::later) {
            return result::more;
        }
        if (next != outcome::done) {
            return which.verifying_ && which.compared_ != 0 ? result::changed : result::done;
        }
        if (single || matches_any(all, tag.path)) {
            const result taken = take(which, tag);
            if (taken != result::more) {
                return taken;
            }
        }
    }
    return result::more;
}

/// A tag that matches: `more` when all is well.
result subscription_finder::take(subscription& which, const tag_row& tag) noexcept {
    const std::uint32_t description = description_of(tag);
    if (!which.verifying_) {
        return add(which, tag.handle, description);
    }
    if (which.compared_ == 0) {
        return result::changed;
    }
    const stream_entry& entry = hub_.entries().at(which.compared_);
    if (entry.tag != tag.handle || entry.description != description) {
        return result::changed;
    }
    which.compared_ = entry.next_of_owner;
    return result::more;
}

result subscription_finder::verify_names(subscription& which) noexcept {
    for (std::size_t i = 0; i < steps_at_once && which.compared_ != 0; ++i) {
        const stream_entry& entry = hub_.entries().at(which.compared_);
        tag_row tag;
        if (hub_.values().describe(context_, entry.tag, tag) != outcome::done ||
            description_of(tag) != entry.description) {
            return result::changed;
        }
        which.compared_ = entry.next_of_owner;
    }
    return which.compared_ != 0 ? result::more : result::done;
}

bool subscription_finder::has(const subscription& which, tag_handle tag) const noexcept {
    for (entry_id at = which.first_; at != 0; at = hub_.entries().at(at).next_of_owner) {
        if (hub_.entries().at(at).tag == tag) {
            return true;
        }
    }
    return false;
}

result subscription_finder::add(subscription& which, tag_handle tag,
                                std::uint32_t description) noexcept {
    if (which.count_ == hub_.limits().stream_tags) {
        return refuse(which, "too_many_tags", "One subscription cannot have so many tags.",
                      "Use several subscriptions, or narrower patterns.");
    }
    if (!hub_.add_entry(which, tag, description)) {
        return refuse(which, "busy",
                      "All clients together have subscribed to as many tags as they "
                      "may.",
                      "Subscribe to fewer tags, or raise web.limits.stream_entries.");
    }
    return result::more;
}

result subscription_finder::refuse(const subscription& which, std::string_view code,
                                   std::string_view detail, std::string_view hint,
                                   std::string_view subject) noexcept {
    error_ = {which.id_, code, detail, hint, subject};
    return result::refused;
}

}  // namespace tagferry::web
