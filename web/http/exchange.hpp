// One request and its answer, as a resource sees them.
#pragma once

#include "transport/memory/pinned_pool.hpp"
#include "web/backend/call.hpp"
#include "web/backend/value.hpp"
#include "web/http/limits.hpp"
#include "web/http/request.hpp"
#include "web/http/resource.hpp"
#include "web/http/response.hpp"
#include "web/http/upgrade.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tagferry::web {

/// Who is told that a waiting exchange can go on, besides backends, which use its call.
class exchange_owner : public transport::completion_sink {
  public:
    virtual transport::completion_token token() const noexcept = 0;

  protected:
    ~exchange_owner() = default;
};

/// A tag that was found by its path.
struct found_tag {
    std::uint64_t revision = 0;  ///< of the backend's tags then; 0: none was found
    tag_handle tag;
};

class exchange {
  public:
    exchange(exchange_owner& owner, output_chain& out, const http_limits& limits,
             transport::pinned_pool& request_pool) noexcept
        : answer(out), owner_(owner), out_(out), limits_(limits), request_pool_(request_pool) {}

    /// The answer being written.
    response answer;

    const http_request& request() const noexcept { return request_; }
    /// The variable part of the path, still encoded.
    std::string_view parameter() const noexcept { return match_.parameter; }
    const http_limits& limits() const noexcept { return limits_; }
    output_chain& out() noexcept { return out_; }
    transport::time_point now() const noexcept { return now_; }
    const actor& who() const noexcept { return who_; }

    /// The context for a call into the backend, with the answer's deadline.
    call context() noexcept {
        return {who_, now_, started_ + std::chrono::milliseconds{limits_.answer_timeout_ms},
                &owner_, owner_.token()};
    }

    /// What a resource has left here for the case that the same head comes again, as the next one
    /// of the connection. Whatever else comes is shown nothing.
    found_tag& found() noexcept { return found_; }

    /// Keeps the request's views alive until the answer is finished. False: too many kept.
    bool retain() noexcept;

    /// Memory beside a retained request, `retained_extra_size` bytes, until the answer is
    /// finished.
    std::span<std::byte> retained_extra() noexcept {
        return kept_.bytes().last(retained_extra_size);
    }
    static constexpr std::size_t retained_extra_size = 16 * 1024;

    /// A place for what the resource must remember between its calls; made on first use in
    /// `begin`, gone after the answer.
    template <typename State, typename... Arguments>
    State& make_state(Arguments&&... arguments) noexcept {
        static_assert(sizeof(State) <= state_size && alignof(State) <= alignof(std::max_align_t));
        static_assert(std::is_trivially_destructible_v<State>);
        return *std::construct_at(reinterpret_cast<State*>(state_.data()),
                                  std::forward<Arguments>(arguments)...);
    }
    template <typename State>
    State& state() noexcept {
        return *std::launder(reinterpret_cast<State*>(state_.data()));
    }

    /// What the connection speaks once the answer, `switching_protocols`, is written.
    void upgrade_to(std::unique_ptr<upgraded_protocol> next) noexcept {
        upgrade_ = std::move(next);
    }

    /// Answers with a problem. Always `finished`.
    progress refuse(const problem& what) noexcept;
    /// The problem that says what a backend's outcome means, for outcomes that are errors.
    progress refuse(outcome why, std::string_view subject = {}) noexcept;

  private:
    friend class connection_engine;

    static constexpr std::size_t state_size = 192;

    exchange_owner& owner_;
    output_chain& out_;
    const http_limits& limits_;
    transport::pinned_pool& request_pool_;
    http_request request_;
    route_match match_;
    found_tag found_;
    actor who_;
    transport::time_point now_{};
    transport::time_point started_{};
    transport::pooled_buffer kept_;
    std::unique_ptr<upgraded_protocol> upgrade_;
    alignas(std::max_align_t) std::array<std::byte, state_size> state_;
};

/// Writes what of `body` is not `sent` yet, as far as there is room: `more` until all of it is.
/// The body lies still until the answer is finished.
progress put_body(exchange& with, std::string_view body, std::size_t& sent) noexcept;

}  // namespace tagferry::web
