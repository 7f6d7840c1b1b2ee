// What a simulated PLC did and holds, for scripts that judge a client by it.
#pragma once

#include "protocols/s7/simulator/plc.hpp"

#include <string>

namespace tagferry::gateway {

/// The counters as one line of JSON:
/// `{"connections":1,"connections_refused":0,"jobs":12,"read_jobs":10,"write_jobs":2,…}`.
std::string counters_as_json(const s7::simulator_counters& counters);

/// Every area in hexadecimal, as JSON: `{"I":"00…","Q":"00…","M":"00…","DB1":"00…"}`. Signals
/// stand where they were last read.
std::string memory_as_json(s7::plc_memory& memory);

}  // namespace tagferry::gateway
