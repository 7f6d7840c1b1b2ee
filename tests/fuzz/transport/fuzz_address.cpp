// Address texts: never a crash, and what is accepted is written in a form that means the same.
#include "transport/net/address.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* const bytes = data;
    const std::string_view text(static_cast<const char*>(bytes), size);
    const auto value = tagferry::transport::parse_address(text);
    if (value &&
        tagferry::transport::parse_address(tagferry::transport::to_text(*value)) != value) {
        std::abort();
    }
    return 0;
}
