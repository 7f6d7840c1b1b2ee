// Values of any type from any bytes: what is written must be JSON to another library, and say the
// same as the bytes.

#include "web/api/value_json.hpp"
#include "web/http/json_writer.hpp"
#include "web/http/url.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

namespace tagferry::web {
namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

template <typename Put>
nlohmann::json written(Put&& put) {
    static transport::pinned_pool pool({"fuzz_output", 2048, 64});
    output_chain out(pool, max_connection_output_slots);
    put(out);
    std::string text;
    transport::send_batch batch;
    out.pull(batch);
    for (const auto& segment : batch.segments()) {
        text.append(reinterpret_cast<const char*>(segment.data()), segment.size());
    }
    const bool whole = out.ok();
    out.clear();
    return whole ? nlohmann::json::parse(text) : nlohmann::json();
}

void try_value(value_type type, std::int32_t length, std::span<const std::byte> bytes) {
    const auto got = written([&](output_chain& out) {
        put_json_value(out, {type, length, bytes});
    });
    if (got.is_null()) {
        return;
    }
    require(got.is_array() == (length >= 0));
    if (got.is_array()) {
        require(got.size() == static_cast<std::size_t>(length));
    }
    if (type == value_type::float64 && length < 0) {
        double value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        require(got.is_string() || got.get<double>() == value);
    }
    if (type == value_type::int64 && length < 0) {
        std::int64_t value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        require(got.get<std::string>() == std::to_string(value));
    }
}

void try_string(std::string_view text) {
    const auto got = written([&](output_chain& out) { put_json_string(out, text); });
    require(got.is_string());
    const auto& back = got.get_ref<const std::string&>();
    require(is_utf8(back));
    if (is_utf8(text)) {
        require(back == text);
    }
}

}  // namespace
}  // namespace tagferry::web

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace tagferry::web;
    constexpr std::size_t largest = 8192;
    if (size < 2 || size > largest) {
        return 0;
    }
    const auto type = static_cast<value_type>(data[0] % 15);
    const std::int32_t length = data[1] == 0 ? scalar : static_cast<std::int32_t>(data[1]) - 1;
    const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
    try_value(type, length, bytes);
    try_string({reinterpret_cast<const char*>(data + 2), size - 2});
    return 0;
}
