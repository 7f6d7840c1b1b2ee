// The file of `tagferry sim`: what one simulated PLC holds, as JSON with comments.
//
//   {
//     "profile": "s7-1500",                          // s7-300, s7-400, s7-1200, s7-1500
//     "pdu_size": 480, "jobs": 2,                    // as the profile says when left out
//     "tpdu_size": 128,                              // answers over it leave in fragments
//     "latency_ms": 4, "serial": true,               // of a job; one job after the other
//     "max_connections": 8,
//     "input_bytes": 1024, "output_bytes": 1024, "memory_bytes": 4096,
//     "data_blocks": [{ "number": 1, "size": 256 }],
//     "signals": [
//       { "address": "DB1.DBD0", "type": "REAL", "kind": "sine", "minimum": 0, "maximum": 100,
//         "period_ms": 5000 },
//       { "address": "DB1.DBB10", "type": "STRING[20]", "kind": "text", "text": "part" },
//       { "address": "DB1.DBD40", "type": "DINT", "kind": "tagged", "number": 7, "period_ms": 10 }
//     ],
//     "faults": [                                    // names and meanings: `sim --help`
//       { "fault": "silence", "start_ms": 5000, "length_ms": 2000, "period_ms": 20000 },
//       { "fault": "item_error", "every": 10, "code": 3 }
//     ]
//   }
#pragma once

#include "gateway/config/location.hpp"
#include "protocols/s7/simulator/config.hpp"
#include "protocols/s7/simulator/fault_script.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

struct simulated_plc_file {
    s7::simulator_config plc;
    std::vector<s7::scripted_fault> faults;
};

/// Reads such a text. Everything wrong with it goes to `found`; the result means nothing then.
/// @param name what locations call the text.
simulated_plc_file parse_plc_file(std::string text, std::string_view name,
                                  config::diagnostics& found);

}  // namespace tagferry::gateway
