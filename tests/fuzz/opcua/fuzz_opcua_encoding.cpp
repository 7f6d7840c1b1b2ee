// Every decoder of a built-in type on any bytes. What decodes must encode to something that
// decodes to the same.
#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/encoding/index_range.hpp"
#include "protocols/opcua/encoding/message_header.hpp"
#include "protocols/opcua/limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {

using namespace tagferry::opcua;

void check(bool holds) {
    if (!holds) {
        std::abort();
    }
}

void variants(bytes_view input, const limits& bounds) {
    static std::vector<std::byte> room(1U << 20U);
    decoder in{input, bounds};
    while (in.ok() && in.remaining() != 0) {
        const variant_view value = in.variant();
        if (!in.ok()) {
            return;
        }
        encoder out{room};
        out.variant(value);
        check(out.ok());
        decoder again{std::span{room}.first(out.used()), bounds};
        const variant_view back = again.variant();
        check(again.ok() && again.remaining() == 0);
        check(back.type == value.type && back.array_length == value.array_length);
        check(std::equal(back.elements.begin(), back.elements.end(), value.elements.begin(),
                         value.elements.end()));
        const index_range some{true, 1, 3, 1};
        encoder part{room};
        static_cast<void>(write_part(part, value, some, bounds));
    }
}

void elements(bytes_view input, const limits& bounds) {
    static std::vector<std::byte> room(1U << 20U);
    for (unsigned type = 0; type <= 26; ++type) {
        decoder in{input, bounds};
        for (int count = 0; count < 100 && in.ok() && in.remaining() != 0; ++count) {
            in.element(static_cast<builtin_type>(type), [&](const auto& value) {
                if (in.ok()) {
                    encoder out{room};
                    out.element(value);
                    check(out.ok());
                    decoder again{std::span{room}.first(out.used()), bounds};
                    again.skip(static_cast<builtin_type>(type));
                    check(again.ok() && again.remaining() == 0);
                }
            });
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    limits bounds;
    bounds.max_string_length = 4'096;
    bounds.max_array_length = 4'096;
    const bytes_view input = std::as_bytes(std::span{data, size});
    variants(input, bounds);
    elements(input, bounds);
    decoder header{input, bounds};
    read_request_header(header);
    index_range range;
    static_cast<void>(read_index_range({reinterpret_cast<const char*>(data), size}, range));
    return 0;
}
