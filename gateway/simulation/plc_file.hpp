// The file of `tagferry sim`: what one simulated PLC holds, as JSON with comments.
//
//   {
//     "profile": "s7-1500",                          // s7-300, s7-400, s7-1200, s7-1500
//     "pdu_size": 480, "latency_ms": 4,              // may be left out
//     "data_blocks": [{ "number": 1, "size": 256 }],
//     "signals": [
//       { "address": "DB1.DBD0", "type": "REAL", "kind": "sine", "minimum": 0, "maximum": 100,
//         "period_ms": 5000 },
//       { "address": "DB1.DBB10", "type": "STRING[20]", "kind": "text", "text": "part" }
//     ]
//   }
#pragma once

#include "gateway/config/location.hpp"
#include "protocols/s7/simulator/config.hpp"

#include <string>
#include <string_view>

namespace tagferry::gateway {

/// Reads such a text. Everything wrong with it goes to `found`; the result means nothing then.
/// @param name what locations call the text.
s7::simulator_config parse_plc_file(std::string text, std::string_view name,
                                    config::diagnostics& found);

}  // namespace tagferry::gateway
