#include "gateway/expose/web/execution.hpp"

#include <utility>

namespace tagferry::gateway {

web_execution::web_execution(transport::shard& owner, transport::worker_pool& workers,
                             std::size_t capacity)
    : shard_(owner), workers_(workers), capacity_(capacity) {
    next_.reserve(capacity);
    current_.reserve(capacity);
}

bool web_execution::submit(web::job& work, transport::completion_sink& sink,
                           transport::completion_token token) {
    transport::job made;
    made.run = [](void* object, transport::job::payload_type& /*payload*/) -> std::uint32_t {
        static_cast<web::job*>(object)->run();
        return 0;
    };
    made.object = &work;
    made.owner = &shard_;
    made.sink = &sink;
    made.token = token;
    return workers_.submit(made);
}

bool web_execution::later(transport::completion_sink& sink, transport::completion_token token) {
    if (next_.size() == capacity_) {
        return false;
    }
    next_.push_back({&sink, token});
    shard_.at_next_turn(*this);
    return true;
}

void web_execution::next_turn(transport::time_point now) {
    std::swap(next_, current_);
    for (const waiting& each : current_) {
        each.sink->resume(each.token, 0, now);
    }
    current_.clear();
}

}  // namespace tagferry::gateway
