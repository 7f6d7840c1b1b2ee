// The same request again and again at one connection engine, without a byte from the heap on this
// side: for allocation gates and benchmarks.
#pragma once

#include "tests/support/opcua/raw_client.hpp"

namespace tagferry::opcua::test {

class steady_client {
  public:
    explicit steady_client(plant& site) : client_(site.connect()) { client_.open_session(); }

    raw_client& client() { return client_; }

    /// Sets the request that `send` repeats, `count` times in one receive.
    void repeat(const bytes& request, std::size_t count = 1) {
        wire_.clear();
        for (std::size_t copy = 0; copy < count; ++copy) {
            append(wire_, request);
        }
        request_size_ = request.size();
        client_.sequence -= 1;
    }

    /// One turn: shows the requests under fresh sequence numbers and takes the answers.
    /// @return bytes that came back.
    std::size_t send(transport::time_point now) {
        for (std::size_t at = 0; at < wire_.size(); at += request_size_) {
            transport::store(wire_.data() + at + 16, client_.next_sequence(), std::endian::little);
        }
        transport::engine& engine = client_.driver.engine();
        std::span<std::byte> rest = wire_;
        std::size_t got = 0;
        while (!rest.empty()) {
            const auto result = engine.receive(rest, now);
            rest = rest.subspan(result.consumed);
            got += take(engine, now);
            if (result.consumed == 0 && !result.more && got == 0) {
                return 0;
            }
        }
        return got;
    }

    /// Takes answers that came outside `send`. @return their bytes.
    std::size_t take_answers(transport::time_point now) {
        return take(client_.driver.engine(), now);
    }

  private:
    static std::size_t take(transport::engine& engine, transport::time_point now) {
        std::size_t got = 0;
        for (;;) {
            transport::send_batch batch;
            engine.pull(batch, now);
            if (batch.empty()) {
                return got;
            }
            got += batch.bytes();
            for (const std::size_t size : batch.message_sizes()) {
                engine.written({size, {}});
            }
        }
    }

    raw_client client_;
    bytes wire_{};
    std::size_t request_size_ = 0;
};

}  // namespace tagferry::opcua::test
