// A client of the stream in memory: it frames what it says and takes apart what it is told.
#pragma once

#include "tests/unit/web/web_fixture.hpp"

#include <array>
#include <string>
#include <vector>

namespace tagferry::web::testing {

struct server_frame {
    int opcode = 0;
    bool final = false;
    std::string payload;
};

/// A frame as a client sends it. @param length_form 0: the shortest; else 7, 16 or 64 bits.
inline std::string client_frame(std::string_view payload, int opcode = 1, bool final = true,
                                int length_form = 0, bool masked = true) {
    std::string frame(1, static_cast<char>((final ? 0x80 : 0) | opcode));
    const auto mask_bit = static_cast<char>(masked ? 0x80 : 0);
    if (length_form == 0) {
        length_form = payload.size() < 126 ? 7 : payload.size() <= 0xFFFF ? 16 : 64;
    }
    if (length_form == 7) {
        frame += static_cast<char>(mask_bit | static_cast<char>(payload.size()));
    } else {
        frame += static_cast<char>(mask_bit | static_cast<char>(length_form == 16 ? 126 : 127));
        for (int shift = length_form - 8; shift >= 0; shift -= 8) {
            frame += static_cast<char>(std::uint64_t{payload.size()} >> shift);
        }
    }
    constexpr std::array<char, 4> mask = {0x12, 0x34, 0x56, 0x78};
    if (masked) {
        frame.append(mask.data(), mask.size());
    }
    for (std::size_t i = 0; i < payload.size(); ++i) {
        frame += masked ? static_cast<char>(payload[i] ^ mask[i % 4]) : payload[i];
    }
    return frame;
}

/// Takes whole frames off the front of `wire`.
inline std::vector<server_frame> take_frames(std::string& wire) {
    std::vector<server_frame> frames;
    for (;;) {
        if (wire.size() < 2) {
            return frames;
        }
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(wire[i]); };
        EXPECT_EQ(byte(1) & 0x80U, 0U) << "a server does not mask";
        std::size_t size = byte(1) & 0x7FU;
        std::size_t header = 2;
        if (size == 126) {
            header = 4;
            size = std::size_t{byte(2)} << 8U | byte(3);
            EXPECT_GT(size, 125U) << "the shortest form of a length";
        }
        if (wire.size() < header + size) {
            return frames;
        }
        frames.push_back({byte(0) & 0x0F, (byte(0) & 0x80U) != 0, wire.substr(header, size)});
        wire.erase(0, header + size);
    }
}

inline int close_code_of(const server_frame& frame) {
    return frame.payload.size() < 2 ? 0
                                    : static_cast<unsigned char>(frame.payload[0]) * 256 +
                                          static_cast<unsigned char>(frame.payload[1]);
}

class stream_test : public web_test {
  protected:
    static std::string handshake(std::string_view more = {},
                                 std::string_view protocol = "tagferry.v1.json") {
        return request("/api/v1/stream", "GET",
                       "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
                       "Sec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                       "Sec-WebSocket-Protocol: other, " +
                           std::string(protocol) + "\r\n" + std::string(more));
    }

    /// One client, with what it was told and has not taken yet.
    struct client {
        scripted_connection* connection = nullptr;
        std::string wire;
        answer upgrade;

        void say(std::string_view text, transport::time_point now) {
            connection->send(client_frame(text), now);
        }
    };

    client open(std::string_view more = {}) {
        client made;
        made.connection = &connect();
        made.connection->send(handshake(more), now());
        made.wire = made.connection->take();
        const auto answers = take_answers(made.wire, true);
        EXPECT_EQ(answers.size(), 1U);
        made.upgrade = answers.empty() ? answer{} : answers.front();
        return made;
    }

    /// An open client that has heard the reasons.
    client open_quietly() {
        client made = open();
        EXPECT_EQ(made.upgrade.status, 101);
        EXPECT_EQ(messages(made).size(), 1U);
        return made;
    }

    /// Later turns until nothing is left to do, for every client.
    void run() {
        for (int round = 0; round < 1000; ++round) {
            const bool worked = above.execution.run_one(now());
            for_each_connection([&](scripted_connection& each) { each.turn(now()); });
            if (!worked) {
                return;
            }
        }
        ADD_FAILURE() << "work without end";
    }

    /// Time passes: schedules, then deadlines.
    void pass(transport::duration time) {
        above.clock.advance(time);
        transport::turn_budget budget(above.clock, now());
        above.execution.timers.advance(now(), budget);
        run();
        for_each_connection([&](scripted_connection& each) { each.tick(now()); });
        run();
    }

    /// A tag's value changed.
    template <typename T>
    void set(std::uint32_t index, T value) {
        above.values.tags[index].bytes = bytes_of(value);
        above.feed.mark(index);
        above.feed.tell(now());
    }

    std::vector<server_frame> frames(client& of) {
        run();
        of.wire += of.connection->take();
        return take_frames(of.wire);
    }

    std::vector<nlohmann::json> messages(client& of) {
        std::vector<nlohmann::json> found;
        for (const auto& frame : frames(of)) {
            EXPECT_EQ(frame.opcode, 1) << frame.payload;
            EXPECT_TRUE(frame.final);
            found.push_back(nlohmann::json::parse(frame.payload));
        }
        return found;
    }

    /// What one request is answered with.
    std::vector<nlohmann::json> ask(client& of, std::string_view text) {
        of.say(text, now());
        return messages(of);
    }

    /// The code the server closes with after these bytes; 0 when it does not close.
    int closed_with(std::string_view bytes) {
        client made = open_quietly();
        made.connection->send(bytes, now());
        const auto told = frames(made);
        if (told.empty() || told.back().opcode != 8) {
            EXPECT_FALSE(made.connection->closing());
            return 0;
        }
        EXPECT_TRUE(made.connection->ended());
        return close_code_of(told.back());
    }
};

}  // namespace tagferry::web::testing
