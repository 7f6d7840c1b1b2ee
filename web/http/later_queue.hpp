// Connections that stopped at a turn limit and go on in a later turn.
#pragma once

#include "transport/engine.hpp"
#include "web/backend/execution.hpp"

namespace tagferry::web {

/// Something to be gone on with later. Intrusive; leaves the queue when destroyed.
class later_member {
  public:
    later_member() noexcept = default;
    later_member(const later_member&) = delete;
    later_member& operator=(const later_member&) = delete;

    virtual void go_on(transport::time_point now) = 0;

  protected:
    virtual ~later_member();

  private:
    friend class later_queue;
    class later_queue* queue_ = nullptr;
    later_member* previous_ = nullptr;
    later_member* next_ = nullptr;
};

/// One outstanding `execution::later` serves all members, so that a member may go away at any
/// time. Must outlive its members.
class later_queue final : public transport::completion_sink {
  public:
    explicit later_queue(execution& executor) noexcept : execution_(executor) {}

    /// Has the member go on in a later turn; does nothing when it is queued already. False: it is
    /// queued, but no later turn could be had; call `retry` in one that comes by itself.
    bool add(later_member& member) noexcept;
    void remove(later_member& member) noexcept;
    void retry() noexcept;

    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point now) override;

  private:
    execution& execution_;
    later_member* first_ = nullptr;
    later_member* last_ = nullptr;
    bool armed_ = false;
};

}  // namespace tagferry::web
