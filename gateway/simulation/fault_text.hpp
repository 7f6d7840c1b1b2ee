// A fault of a simulated PLC as one argument of the command line says it:
//
//   silence                                          as the catalogue has it
//   dropped_reply:every=10                           each tenth job
//   silence:start=5s,length=2s,period=20s            after 5 s for 2 s, and again every 20 s
//   item_error:code=0x03,every=1   data_block_gone:block=2   late_reply:delay=300ms
#pragma once

#include "protocols/s7/simulator/fault_script.hpp"

#include <string>
#include <string_view>

namespace tagferry::gateway {

/// @param error set to what is wrong and what to do, or emptied. The result means nothing then.
s7::scripted_fault parse_fault_text(std::string_view text, std::string& error);

/// What does not fit together in a fault, in words; empty when it does.
std::string check_fault(const s7::scripted_fault& fault);

/// One line for each fault: its name, what it does, and how it is when nothing else is said.
std::string fault_help();

}  // namespace tagferry::gateway
