// A duration that is accepted is over 0 and at most what 32 bits of hours hold.
#include "gateway/app/process.hpp"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto read = tagferry::gateway::parse_duration(text);
    if (read && (read->count() <= 0 || *read > std::chrono::hours(0xFFFF'FFFFLL))) {
        std::abort();
    }
    return 0;
}
