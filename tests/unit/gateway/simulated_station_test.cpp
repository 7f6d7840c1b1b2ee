// The simulated PLC behind a real socket: what only the system can show.
#include "gateway/simulation/simulated_station.hpp"

#include "gateway/simulation/memory_dump.hpp"
#include "transport/threads/shard.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace tagferry::gateway {
namespace {

constexpr std::string_view connect_request(
    "\x03\x00\x00\x16\x11\xe0\x00\x00\x00\x01\x00\xc1\x02\x01\x00\xc2\x02\x01\x02\xc0\x01\x0a", 22);
constexpr std::string_view setup(
    "\x03\x00\x00\x19\x02\xf0\x80\x32\x01\x00\x00\x00\x01\x00\x08\x00\x00"
    "\xf0\x00\x00\x08\x00\x08\x03\xc0",
    25);
constexpr std::string_view read_mb0(
    "\x03\x00\x00\x1f\x02\xf0\x80\x32\x01\x00\x00\x00\x05\x00\x0e\x00\x00"
    "\x04\x01\x12\x0a\x10\x02\x00\x01\x00\x00\x83\x00\x00\x00",
    31);
constexpr std::size_t confirm_size = 22;
constexpr std::size_t setup_reply_size = 27;
constexpr std::size_t read_reply_size = 26;

struct served_plc {
    explicit served_plc(const s7::scripted_fault& fault)
        : shard({.name = "plc"}, clock), station(shard, {}, 0, std::span(&fault, 1)) {
        station.start();
        shard.start();
    }
    ~served_plc() {
        shard.stop();
        shard.join();
    }
    transport::real_clock clock;
    transport::shard shard;
    simulated_station station;
};

/// A blocking client.
class plain_client {
  public:
    explicit plain_client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where), 0);
    }
    ~plain_client() { ::close(socket_); }
    plain_client(const plain_client&) = delete;
    plain_client& operator=(const plain_client&) = delete;

    void shake_hands() {
        send(connect_request);
        EXPECT_EQ(receive(confirm_size), 1U);
        send(setup);
        EXPECT_EQ(receive(setup_reply_size), 1U);
    }
    void send(std::string_view bytes) {
        EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }
    /// Takes so many bytes. @return in how many pieces they came; 0 when they did not.
    std::size_t receive(std::size_t size) {
        std::array<char, 4096> into{};
        std::size_t pieces = 0;
        for (std::size_t got = 0; got < size; ++pieces) {
            const ssize_t more = ::recv(socket_, into.data(), into.size(), 0);
            if (more <= 0) {
                return 0;
            }
            got += static_cast<std::size_t>(more);
        }
        return pieces;
    }
    /// `errno` of a receive that fails; 0 for the end of the stream.
    int end() {
        char byte = 0;
        return ::recv(socket_, &byte, 1, 0) < 0 ? errno : 0;
    }

  private:
    int socket_;
};

s7::scripted_fault each_job(std::string_view name) {
    s7::scripted_fault fault = s7::find_fault(name)->usual;
    fault.every = 1;
    fault.start = fault.length = fault.period = transport::duration::zero();
    return fault;
}

TEST(simulated_station, a_reset_is_one) {
    const served_plc plc(each_job("reset"));
    plain_client client(plc.station.port());
    client.shake_hands();
    client.send(read_mb0);
    EXPECT_EQ(client.end(), ECONNRESET);
}

TEST(simulated_station, a_refused_connection_is_reset_before_a_byte) {
    const served_plc plc(each_job("refused_connection"));
    plain_client client(plc.station.port());
    EXPECT_EQ(client.end(), ECONNRESET);
}

TEST(simulated_station, two_replies_arrive_in_one_piece) {
    const served_plc plc(each_job("two_replies"));
    plain_client client(plc.station.port());
    client.shake_hands();
    client.send(read_mb0);
    client.send(read_mb0);
    EXPECT_EQ(client.receive(2 * read_reply_size), 1U);
}

TEST(simulated_station, a_dribbled_reply_arrives_in_many) {
    auto fault = each_job("dribble");
    fault.delay = std::chrono::milliseconds(2);
    const served_plc plc(fault);
    plain_client client(plc.station.port());
    client.shake_hands();
    client.send(read_mb0);
    EXPECT_GT(client.receive(read_reply_size), 1U);
}

TEST(memory_dump, counters_and_areas_are_json) {
    s7::simulator_counters counters;
    counters.jobs = 5;
    counters.read_jobs = 4;
    counters.write_jobs = 1;
    EXPECT_EQ(counters_as_json(counters),
              "{\"connections\":0,\"connections_refused\":0,\"jobs\":5,\"read_jobs\":4,"
              "\"write_jobs\":1,\"items_read\":0,\"items_failed\":0,\"most_in_flight\":0}");
    s7::plc_memory memory;
    memory.define(s7::area::memory, 0, 2);
    memory.define(s7::area::data_block, 300, 3);
    memory.define(s7::area::data_block, 2, 1);
    memory.bytes(s7::area::data_block, 300)[1] = std::byte{0xA5};
    EXPECT_EQ(memory_as_json(memory),
              "{\"I\":\"\",\"Q\":\"\",\"M\":\"0000\",\"DB2\":\"00\",\"DB300\":\"00a500\"}");
}

}  // namespace
}  // namespace tagferry::gateway
