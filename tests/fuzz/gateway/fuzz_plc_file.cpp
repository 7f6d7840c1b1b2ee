// Any text given as a PLC file is either a PLC that can be made, or has findings.
#include "gateway/simulation/plc_file.hpp"
#include "protocols/s7/simulator/plc.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagferry;
    gateway::config::diagnostics found;
    std::string text(reinterpret_cast<const char*>(data), size);
    const auto made = gateway::parse_plc_file(std::move(text), "plc.json", found);
    if (!found.ok()) {
        return 0;
    }
    try {
        const transport::real_clock clock;
        const s7::simulated_plc plc(made.plc, clock);
    } catch (const std::invalid_argument& refused) {
        // What does not fit together is said in words.
        if (std::string_view(refused.what()).empty()) {
            std::abort();
        }
    }
    return 0;
}
