// Looks up the tags of a subscription in bounded steps, and later whether they are still the same.
#pragma once

#include "web/backend/call.hpp"
#include "web/live/stream_writer.hpp"
#include "web/live/subscription.hpp"

namespace tagferry::web {

class subscription_finder {
  public:
    enum class result : std::uint8_t {
        more,     ///< call again in another turn
        done,     ///< all tags are known; verifying: they are the same
        changed,  ///< verifying: they are not
        refused,  ///< `error` says why
    };

    subscription_finder(stream_hub& hub, const call& context) noexcept
        : hub_(hub), context_(context) {}

    result step(subscription& which) noexcept;

    /// Why the subscription is refused; views are valid while it lives.
    const stream_error& error() const noexcept { return error_; }

  private:
    result find_names(subscription& which) noexcept;
    result walk(subscription& which) noexcept;
    result verify_names(subscription& which) noexcept;
    result take(subscription& which, const tag_row& tag) noexcept;
    result add(subscription& which, tag_handle tag, std::uint32_t description) noexcept;
    bool has(const subscription& which, tag_handle tag) const noexcept;
    result refuse(const subscription& which, std::string_view code, std::string_view detail,
                  std::string_view hint, std::string_view subject = {}) noexcept;

    stream_hub& hub_;
    const call& context_;
    stream_error error_;
};

}  // namespace tagferry::web
