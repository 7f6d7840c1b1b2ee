#include "protocols/s7/simulator/faults.hpp"

namespace tagferry::s7 {

bool manual_faults::accept_connection(transport::time_point /*now*/) {
    return !refusing_;
}

job_fate manual_faults::judge(const s7_message& /*job*/, transport::time_point /*now*/) {
    job_fate fate;
    fate.what = silent_ ? job_fate::action::ignore : job_fate::action::answer;
    fate.delay = delay_;
    return fate;
}

}  // namespace tagferry::s7
