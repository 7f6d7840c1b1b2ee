// Work of the web room on the worker pool, and its turns.
#pragma once

#include "transport/threads/shard.hpp"
#include "transport/threads/worker_pool.hpp"
#include "web/backend/execution.hpp"

#include <cstddef>
#include <vector>

namespace tagferry::gateway {

class web_execution final : public web::execution, private transport::next_turn_participant {
  public:
    /// @param capacity how many may wait for a later turn. Both references outlive it.
    web_execution(transport::shard& owner, transport::worker_pool& workers, std::size_t capacity);

    bool submit(web::job& work, transport::completion_sink& sink,
                transport::completion_token token) override;
    bool later(transport::completion_sink& sink, transport::completion_token token) override;

    transport::timing_wheel& wheel() noexcept override { return shard_.wheel(); }

  private:
    struct waiting {
        transport::completion_sink* sink = nullptr;
        transport::completion_token token{};
    };

    void next_turn(transport::time_point now) override;

    transport::shard& shard_;
    transport::worker_pool& workers_;
    std::vector<waiting> next_;     // resumed in the next turn
    std::vector<waiting> current_;  // being resumed
    std::size_t capacity_;
};

}  // namespace tagferry::gateway
