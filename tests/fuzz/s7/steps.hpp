// An engine's fuzz input as steps: one byte of what to do, one of how many bytes belong to it,
// then these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::s7::test {

template <class Do>
void for_each_step(const std::uint8_t* data, std::size_t size, Do&& act) {
    std::span<const std::uint8_t> rest(data, size);
    while (rest.size() >= 2) {
        const std::uint8_t what = rest[0];
        const std::size_t length = std::min<std::size_t>(rest[1], rest.size() - 2);
        act(what, std::as_bytes(rest.subspan(2, length)));
        rest = rest.subspan(2 + length);
    }
}

}  // namespace tagferry::s7::test
