// A TLS server met by anything: the input arrives in pieces whose sizes it names itself.
#include "tests/support/driver_rig.hpp"
#include "tests/support/test_certificate.hpp"
#include "transport/net/tls_filter.hpp"

#include <cstdint>
#include <cstdlib>

namespace tagferry::testing {
namespace {

const transport::tls_context& context() {
    static const test_certificate certificate("localhost");
    static const transport::tls_context made(transport::tls_context::role::server,
                                             certificate.certificate_pem, certificate.key_pem, {});
    return made;
}

/// Drives the filter as a driver does, without one.
class plain_host final : public transport::engine_host {
  public:
    void output_ready() noexcept override {}
    void close_after_flush(transport::close_reason) noexcept override { over = true; }
    void abort(transport::close_reason) noexcept override { over = true; }
    bool over = false;
};

}  // namespace
}  // namespace tagferry::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagferry;
    auto inner = std::make_unique<testing::frame_engine>();
    testing::frame_engine& engine = *inner;
    const auto filter = transport::make_tls_filter(testing::context(), std::move(inner));
    testing::plain_host host;
    filter->opened(host, {});
    std::vector<std::byte> unread;
    while (size > 1 && !host.over) {
        const std::size_t piece = std::min<std::size_t>(1 + data[0] * 8U, size - 1);
        const auto bytes = std::as_bytes(std::span(data + 1, piece));
        unread.insert(unread.end(), bytes.begin(), bytes.end());
        data += 1 + piece;
        size -= 1 + piece;
        const auto result = filter->receive(unread, {});
        if (result.consumed > unread.size()) {
            std::abort();
        }
        unread.erase(unread.begin(), unread.begin() + static_cast<std::ptrdiff_t>(result.consumed));
        transport::send_batch batch;
        filter->pull(batch, {});
        for (const std::size_t left : batch.message_sizes()) {
            filter->written({left, {}});
        }
    }
    filter->closed({transport::close_reason::peer_closed, {}}, {});
    if (!engine.violations.empty()) {
        std::abort();
    }
    return 0;
}
