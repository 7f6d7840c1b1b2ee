// A far server behind a socket, in the place of a connection engine: so that `raw_client` speaks to
// a whole process as it speaks to an engine in memory.
#pragma once

#include "transport/bytes/endian.hpp"
#include "transport/engine.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tagferry::opcua::test {

/// Every message shown to it is a request of one chunk and gets one answer, of any number of
/// chunks; `pull` waits for it, five seconds at most.
class socket_engine final : public transport::engine {
  public:
    explicit socket_engine(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval longest{5, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
        connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    }
    ~socket_engine() override { ::close(socket_); }
    bool connected() const { return connected_; }
    /// For whoever goes on with the socket by itself.
    int descriptor() const { return socket_; }

    void opened(transport::engine_host&, transport::time_point) override {}
    transport::receive_result receive(std::span<std::byte> input, transport::time_point) override {
        connected_ = connected_ && ::send(socket_, input.data(), input.size(), MSG_NOSIGNAL) ==
                                       static_cast<ssize_t>(input.size());
        ++unanswered_;
        return {input.size(), false};
    }
    transport::input_wish wants_input() const noexcept override { return {true, 0}; }
    void pull(transport::send_batch& batch, transport::time_point) override {
        if (unanswered_ == 0 || !connected_) {
            return;
        }
        chunk_.resize(header_size);
        connected_ = take(chunk_);
        if (!connected_) {
            return;
        }
        const auto size = transport::load<std::uint32_t>(chunk_.data() + 4, std::endian::little);
        if (size < header_size || size > largest_chunk) {
            connected_ = false;
            return;
        }
        chunk_.resize(size);
        connected_ = take(std::span(chunk_).subspan(header_size));
        unanswered_ -= chunk_[3] == std::byte{'F'} ? 1 : 0;
        batch.add(chunk_);
    }
    void written(const transport::write_report&) override {}
    transport::time_point deadline() const noexcept override {
        return transport::time_point::max();
    }
    void expire(transport::time_point) override {}
    void closed(const transport::close_info&, transport::time_point) override {}
    void resume(transport::completion_token, std::uint32_t, transport::time_point) override {}

  private:
    static constexpr std::size_t header_size = 8;
    static constexpr std::size_t largest_chunk = 1U << 20U;

    bool take(std::span<std::byte> into) const {
        return ::recv(socket_, into.data(), into.size(), MSG_WAITALL) ==
               static_cast<ssize_t>(into.size());
    }

    int socket_;
    bool connected_ = false;
    int unanswered_ = 0;
    std::vector<std::byte> chunk_{};
};

}  // namespace tagferry::opcua::test
