// The stream over the fake backend: the input is what a peer sends after the handshake, with
// changes and time passing between. However it is cut into pieces, what is answered must be whole
// frames of JSON, and nothing may be left watched when the client is gone.

#include "tests/unit/web/fake_backend.hpp"
#include "tests/unit/web/scripted_connection.hpp"
#include "web/server.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace tagferry::web::testing {
namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

constexpr std::string_view handshake =
    "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Protocol: tagferry.v1.json\r\n\r\n";

/// Frames of a server, one after the other; what is left is a part of one.
void check_frames(std::string_view wire) {
    while (wire.size() >= 2) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(wire[i]); };
        std::size_t size = byte(1);
        std::size_t header = 2;
        require(size <= 126);
        if (size == 126) {
            require(wire.size() >= 4);
            header = 4;
            size = std::size_t{byte(2)} << 8U | byte(3);
        }
        require(wire.size() >= header + size);
        if (byte(0) == 0x81) {
            require(nlohmann::json::accept(wire.substr(header, size)));
        } else {
            require((byte(0) == 0x88 || byte(0) == 0x89 || byte(0) == 0x8A) && size <= 125);
        }
        wire.remove_prefix(header + size);
    }
    require(wire.empty());
}

class world {
  public:
    world() {
        add_usual_tags(above_.values);
        for (int i = 0; i < 300; ++i) {
            above_.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                          .type = value_type::float64,
                                          .bytes = bytes_of(0.1 * i)});
        }
        above_.values.steps_before_later = 100;
        server_options options;
        options.limits.output_slots = 16;
        options.limits.connection_output_slots = 8;
        options.limits.output_slot_size = 4096;
        options.limits.stream_entries = 700;
        options.limits.stream_subscriptions = 4;
        parts_.emplace(above_.parts());
        server_.emplace(options, *parts_, above_.clock);
    }

    void play(std::string_view input, std::string_view cuts) {
        {
            scripted_connection connection(server_->make_engine("peer", channel_security::loopback),
                                           now());
            connection.send(handshake, now());
            work(connection);
            const std::string answer = connection.take();
            const std::size_t head = answer.find("\r\n\r\n");
            require(answer.starts_with("HTTP/1.1 101 ") && head != std::string::npos);
            std::string wire = answer.substr(head + 4);
            std::size_t at = 0;
            for (std::size_t step = 0; at < input.size(); ++step) {
                const auto cut = static_cast<unsigned char>(cuts[step % cuts.size()]);
                const auto piece = input.substr(at, 1 + cut % 64);
                at += piece.size();
                connection.accept_writes(cut < 240);
                connection.send(piece, now());
                disturb(connection, cut);
            }
            connection.accept_writes(true);
            work(connection);
            check_frames(wire + connection.take());
        }
        while (above_.execution.run_one(now())) {
        }
        require(std::ranges::none_of(above_.feed.watched, [](bool watched) { return watched; }));
    }

  private:
    transport::time_point now() const { return above_.clock.now(); }

    void disturb(scripted_connection& connection, unsigned char cut) {
        for (std::uint32_t i = cut; i < 305; i += 7) {
            above_.feed.mark(i);
        }
        above_.feed.changes_of_model += cut == 1 ? 1U : 0U;
        above_.feed.tell(now());
        above_.clock.advance(std::chrono::milliseconds(cut));
        transport::turn_budget budget(above_.clock, now());
        above_.execution.timers.advance(now(), budget);
        connection.tick(now());
        work(connection);
    }

    void work(scripted_connection& connection) {
        for (int round = 0; round < 64; ++round) {
            const bool moved = above_.execution.run_one(now());
            connection.turn(now());
            if (!moved) {
                return;
            }
        }
    }

    fake_backend above_;
    std::optional<backend> parts_;
    std::optional<server> server_;
};

}  // namespace
}  // namespace tagferry::web::testing

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static tagferry::web::testing::world tested;
    if (size < 4) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    tested.play(text.substr(3), text.substr(0, 3));
    return 0;
}
