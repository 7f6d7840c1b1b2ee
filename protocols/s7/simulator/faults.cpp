#include "protocols/s7/simulator/faults.hpp"

namespace tagferry::s7 {

connection_fate manual_faults::accept_connection(transport::time_point now) {
    if (refusing_) {
        return connection_fate::refuse;
    }
    if (silent_) {
        return connection_fate::ignore;
    }
    return behind_ != nullptr ? behind_->accept_connection(now) : connection_fate::serve;
}

job_fate manual_faults::judge(const s7_message& job, transport::time_point now) {
    job_fate fate;
    if (silent_) {
        fate.what = job_fate::action::ignore;
        return fate;
    }
    if (behind_ != nullptr) {
        fate = behind_->judge(job, now);
    }
    fate.delay += delay_;
    return fate;
}

bool manual_faults::block_exists(std::uint16_t block, transport::time_point now) {
    return behind_ != nullptr ? behind_->block_exists(block, now)
                              : fault_hook::block_exists(block, now);
}

std::size_t manual_faults::pdu_limit(transport::time_point now) {
    return behind_ != nullptr ? behind_->pdu_limit(now) : fault_hook::pdu_limit(now);
}

transport::duration manual_faults::time_in_stop(transport::time_point now) {
    return behind_ != nullptr ? behind_->time_in_stop(now) : fault_hook::time_in_stop(now);
}

}  // namespace tagferry::s7
