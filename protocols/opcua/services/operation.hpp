// One request from admission to answer: handled in its turn, over several turns, or pending until
// the gateway resumes it.
#pragma once

#include "protocols/opcua/backend/call.hpp"
#include "protocols/opcua/channel/response_writer.hpp"
#include "protocols/opcua/nodes/address_space.hpp"
#include "protocols/opcua/services/write_list.hpp"
#include "transport/memory/pinned_pool.hpp"

#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

struct service;
struct session;
struct operation;

/// The connection as its operations see it.
class operation_owner {
  public:
    /// A deferred operation has its result: go on with it and answer.
    virtual void resume_operation(operation& resumed, transport::time_point now) = 0;
    /// A deferred operation is given up, past its deadline or cancelled: answer with `why`. What
    /// was asked of the backend goes on, and nobody waits for it.
    virtual void give_up_operation(operation& gone, status_code why, transport::time_point now) = 0;

  protected:
    ~operation_owner() = default;
};

/// What a service function did.
enum class step : std::uint8_t {
    finished,  ///< the answer is encoded, or `fault` says why there is none
    yielded,   ///< the turn is used up: call again next turn
    kept,      ///< the request must outlast its turn: copy it and call again
    deferred,  ///< a backend was asked: call again when it resumes
    held,      ///< nothing is answered now: a Publish waits among those of its session
};

enum class operation_phase : std::uint8_t {
    running,    ///< in its turn, its request still in the connection's input
    pending,    ///< deferred, its request copied
    abandoned,  ///< nobody waits for the answer; only the backend's resume is still due
};

struct browse_filter {
    std::uint32_t max_references = 0;  ///< of each result, limits applied
    std::uint32_t direction = 0;
    std::uint8_t reference_type = 0;  ///< `standard::no_type`: any
    bool include_subtypes = true;
    std::uint32_t class_mask = 0;
    std::uint32_t result_mask = 0;
};

/// Progress through a list, kept over turns. `next` of `count` items are answered.
struct list_progress {
    std::uint32_t count = 0;
    std::uint32_t next = 0;
    std::size_t position = 0;  ///< in the request, where item `next` begins
};

struct read_progress {
    bool from_device = false;
    std::uint32_t timestamps = 0;
    std::uint32_t asked = 0;  ///< items up to here were asked of their devices
};

enum class browse_stage : std::uint8_t { none, counting, writing, done };

struct browse_progress {
    std::uint32_t max_references = 0;  ///< Browse: of each result
    bool release = false;              ///< BrowseNext: only give the points back
    browse_stage stage = browse_stage::none;
    browse_filter filter{};
    node_key node{};
    reference_cursor start{};   ///< where its references begin
    reference_cursor cursor{};  ///< where the stage stands
    std::uint32_t counted = 0;
    std::uint32_t written = 0;
    std::byte* count_at = nullptr;  ///< where `written` goes in the end
};

enum class write_stage : std::uint8_t { checking, waiting };

/// Services on the items of one subscription.
struct items_progress {
    std::uint32_t subscription_id = 0;
    std::uint32_t mode = 0;        ///< TimestampsToReturn or MonitoringMode
    std::uint32_t triggering = 0;  ///< SetTriggering: the item
    std::uint32_t added = 0;       ///< of its first list, done
    std::uint32_t to_add = 0;
    bool is_adding = false;            ///< the second list is done
    std::size_t add_position = 0;      ///< in the request, where the first list begins
    std::size_t results_position = 0;  ///< in the answer, where its results begin
};

/// Pooled; reused as it is, so `start` sets every field.
struct operation {
    transport::completion_token token{};  ///< its own name in the table of operations
    operation_phase phase = operation_phase::running;
    operation_owner* owner = nullptr;  ///< null once the connection is gone
    const service* which = nullptr;    ///< null: unknown, answered with a fault
    session* who = nullptr;
    std::uint32_t session_number = 0;
    std::uint32_t channel_id = 0;
    std::uint32_t request_id = 0;
    std::uint32_t request_handle = 0;
    status_code fault = 0;  ///< other than Good: a ServiceFault is the answer
    transport::time_point arrived{};
    transport::time_point deadline = transport::time_point::max();
    transport::wall_time_ns wall_now = 0;  ///< when it was admitted, or resumed
    bool begun = false;                    ///< the response header is written
    list_progress list{};
    read_progress read{};
    browse_progress browse{};
    write_stage write = write_stage::checking;
    write_list writes{};
    items_progress items{};
    response_writer response{};
    transport::pooled_buffer request{};  ///< the copy of its body, once one was made
    std::size_t request_size = 0;

    bytes_view kept_body() const noexcept { return request.bytes().first(request_size); }
};

}  // namespace tagferry::opcua
