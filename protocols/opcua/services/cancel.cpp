// Cancel of the Session service set (Part 4 §5.6.5).
#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {

// What waits is answered BadRequestCancelledByClient. A write that was handed to its device goes
// on all the same: only its answer is given up.
step cancel(service_context& context) {
    const std::uint32_t handle = context.in.u32();
    if (!context.in.ok()) {
        return context.fail(context.in.status());
    }
    std::uint32_t cancelled =
        context.server.publishing.cancel(*context.who, handle, context.now);
    context.server.operations.for_each([&](transport::completion_token, operation& each) {
        if (each.phase == operation_phase::pending && each.who == context.who &&
            each.session_number == context.who->number && each.request_handle == handle) {
            each.owner->give_up_operation(each, status::bad_request_cancelled_by_client,
                                          context.now);
            ++cancelled;
        }
    });
    context.begin_response();
    context.out.u32(cancelled);
    return step::finished;
}

}  // namespace tagferry::opcua
