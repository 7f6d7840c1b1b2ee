// Any text given as a fault is one that fits together, or is refused in words.
#include "gateway/simulation/fault_text.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagferry;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::string error;
    const s7::scripted_fault fault = gateway::parse_fault_text(text, error);
    if (error.empty() &&
        (!gateway::check_fault(fault).empty() || fault.every == 0 ||
         fault.start < transport::duration::zero() || fault.length < transport::duration::zero())) {
        std::abort();
    }
    return 0;
}
