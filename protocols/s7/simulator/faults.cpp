#include "protocols/s7/simulator/faults.hpp"

namespace tagferry::s7 {

connection_fate manual_faults::accept_connection(transport::time_point /*now*/) {
    if (refusing_) {
        return connection_fate::refuse;
    }
    return silent_ ? connection_fate::ignore : connection_fate::serve;
}

job_fate manual_faults::judge(const s7_message& /*job*/, transport::time_point /*now*/) {
    job_fate fate;
    fate.what = silent_ ? job_fate::action::ignore : job_fate::action::answer;
    fate.delay = delay_;
    return fate;
}

}  // namespace tagferry::s7
