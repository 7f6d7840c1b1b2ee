// OPC UA sessions for load programs: opened by the client of the unit tests over a real socket,
// then driven by bytes made beforehand.
#pragma once

#include "tests/bench/paired_rounds.hpp"
#include "tests/support/opcua/raw_client.hpp"
#include "tests/support/opcua/socket_engine.hpp"
#include "transport/bytes/endian.hpp"

#include <netinet/tcp.h>

#include <memory>
#include <string>
#include <vector>

namespace tagferry::bench {

using opcua::test::bytes;
using opcua::test::raw_client;

class opcua_session {
  public:
    explicit opcua_session(std::uint16_t port) {
        auto far = std::make_unique<opcua::test::socket_engine>(port);
        descriptor_ = far->descriptor();
        const int on = 1;
        setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        client_ = std::make_unique<raw_client>(std::move(far), clock());
        client_->open_session();
        if (client_->session_number == 0) {
            std::fputs("no OPC UA session\n", stderr);
            std::exit(1);
        }
        tokens_.push_back(client_->token);
    }
    ~opcua_session() { close_sessions(); }
    opcua_session(const opcua_session&) = delete;
    opcua_session& operator=(const opcua_session&) = delete;

    /// One more session on the same channel; what the client makes from now on is its.
    void further_session() {
        if (client_->create_session() != opcua::status::good ||
            client_->activate() != opcua::status::good) {
            std::fputs("no further session on the channel\n", stderr);
            std::exit(1);
        }
        tokens_.push_back(client_->token);
    }

    /// Sessions outlive their connection, so those that are not closed count against the limit.
    void close_sessions() {
        for (const std::string& each : tokens_) {
            client_->token = each;
            client_->call(client_->request(opcua::id::close_session_request_binary,
                                           [](opcua::encoder& out) { out.boolean(true); }));
        }
        tokens_.clear();
    }

    raw_client& client() { return *client_; }
    int descriptor() const { return descriptor_; }

    /// Sends one request by itself. @return the whole answer as it came off the wire.
    bytes ask(const bytes& request) {
        const std::size_t before = client_->driver.output.size();
        const opcua::test::reply answer = client_->call(request);
        if (raw_client::result_of(answer) != opcua::status::good) {
            std::fputs("a request was not answered Good\n", stderr);
            std::exit(1);
        }
        const auto& all = client_->driver.output;
        return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
    }

    /// A connection that sends `count` copies of a request, whose answer has `answer_size` bytes,
    /// in each write, under fresh sequence numbers.
    connection repeat(const bytes& request, std::size_t count, std::size_t answer_size) {
        connection made;
        made.descriptor = descriptor_;
        for (std::size_t copy = 0; copy < count; ++copy) {
            opcua::test::append(made.burst, request);
        }
        made.requests = count;
        made.answer_bytes = count * answer_size;
        made.renew = [client = client_.get(), size = request.size()](bytes& burst) {
            for (std::size_t at = 0; at < burst.size(); at += size) {
                transport::store(burst.data() + at + 16, client->next_sequence(),
                                 std::endian::little);
            }
        };
        return made;
    }

    /// Asks for numbers that stand for these paths. @return their identifiers, "3#7" or the like.
    std::vector<std::string> register_nodes(const std::vector<std::string>& paths) {
        const opcua::test::reply answer = client_->call(
            client_->request(opcua::id::register_nodes_request_binary, [&](opcua::encoder& out) {
                out.i32(static_cast<std::int32_t>(paths.size()));
                for (const std::string& path : paths) {
                    raw_client::write_id(out, path);
                }
            }));
        bytes rest;
        if (raw_client::result_of(answer, nullptr, &rest) != opcua::status::good) {
            std::fputs("RegisterNodes failed\n", stderr);
            std::exit(1);
        }
        static const opcua::limits bounds;
        opcua::decoder in{rest, bounds};
        std::vector<std::string> made(static_cast<std::size_t>(in.i32()));
        for (std::string& each : made) {
            const opcua::node_id_view id = in.node_id();
            each = std::to_string(id.namespace_index) + "#" + std::to_string(id.number);
        }
        return made;
    }

    static const transport::clock& clock() {
        static const transport::real_clock time;
        return time;
    }

  private:
    int descriptor_ = -1;
    std::unique_ptr<raw_client> client_;
    std::vector<std::string> tokens_{};
};

}  // namespace tagferry::bench
