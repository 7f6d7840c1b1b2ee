// Conversations explained byte by byte (tests/golden/opcua), held against the server.
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace tagferry::opcua::test {
namespace {

// One message: known bytes, and named runs of bytes that the server chooses.
struct piece {
    bytes known{};
    std::string name{};
    std::size_t size = 0;
    std::string meaning{};
};
struct golden_message {
    bool from_client = false;
    std::vector<piece> pieces{};
};

piece read_piece(const std::string& line) {
    piece out;
    const std::size_t bar = line.find('|');
    out.meaning = line.substr(bar + 1);
    std::istringstream words{line.substr(1, bar - 1)};
    std::string word;
    while (words >> word) {
        if (word.starts_with('{')) {
            const std::size_t colon = word.find(':');
            out.name = word.substr(1, colon - 1);
            out.size = std::stoul(word.substr(colon + 1));
        } else {
            out.known.push_back(static_cast<std::byte>(std::stoul(word, nullptr, 16)));
        }
    }
    out.size = out.name.empty() ? out.known.size() : out.size;
    return out;
}

std::vector<golden_message> read_golden(const std::string& path) {
    std::ifstream in{path};
    EXPECT_TRUE(in.good()) << path;
    std::vector<golden_message> messages;
    std::string line;
    bool begun = false;
    while (std::getline(in, line)) {
        if (line.starts_with('>') || line.starts_with('<')) {
            if (!begun) {
                messages.push_back({line[0] == '>', {}});
                begun = true;
            }
            messages.back().pieces.push_back(read_piece(line));
        } else if (line.empty()) {
            begun = false;
        }
    }
    return messages;
}

using chosen = std::map<std::string, bytes>;

bytes fill_in(const golden_message& message, const chosen& names) {
    bytes out;
    for (const piece& each : message.pieces) {
        append(out, each.name.empty() ? each.known : names.at(each.name));
    }
    return out;
}

// Compares, and learns what the server chose.
void hold_against(const golden_message& message, std::span<const std::byte> got, chosen& names) {
    std::size_t at = 0;
    for (const piece& each : message.pieces) {
        ASSERT_LE(at + each.size, got.size()) << "cut off before" << each.meaning;
        const bytes part{got.begin() + static_cast<std::ptrdiff_t>(at),
                         got.begin() + static_cast<std::ptrdiff_t>(at + each.size)};
        if (each.name.empty()) {
            ASSERT_EQ(part, each.known) << "at byte " << at << ":" << each.meaning;
        } else {
            ASSERT_EQ(names.emplace(each.name, part).first->second, part) << each.meaning;
        }
        at += each.size;
    }
    ASSERT_EQ(at, got.size()) << "more bytes than explained";
}

void replay(std::size_t bytes_at_a_time) {
    plant site;
    raw_client client = site.connect();
    chosen names;
    std::size_t taken = 0;
    for (const golden_message& message : read_golden("tests/golden/opcua/read_one_value.txt")) {
        if (message.from_client) {
            client.driver.feed_in_pieces(fill_in(message, names), bytes_at_a_time);
            continue;
        }
        const auto got = std::span{client.driver.output}.subspan(taken);
        ASSERT_GE(got.size(), 8U);
        const auto size = transport::load<std::uint32_t>(got.data() + 4, std::endian::little);
        hold_against(message, got.first(size), names);
        taken += size;
    }
    EXPECT_EQ(taken, client.driver.output.size());
    EXPECT_EQ(client.driver.reason, transport::close_reason::requested);
}

TEST(golden, the_conversation_is_as_explained) {
    replay(1'000'000);
}
TEST(golden, the_conversation_is_the_same_byte_by_byte) {
    replay(1);
}

// The conversation ended at every one of its steps: nothing may be left behind or crash.
TEST(golden, the_connection_may_be_lost_after_any_byte) {
    const auto messages = read_golden("tests/golden/opcua/read_one_value.txt");
    plant site{small_limits()};
    for (std::size_t last = 0; last < messages.size(); ++last) {
        if (!messages[last].from_client) {
            continue;
        }
        for (std::size_t cut = 1; cut < 400; cut += 13) {
            raw_client client = site.connect();
            chosen names;
            std::size_t taken = 0;
            for (std::size_t at = 0; at <= last; ++at) {
                if (messages[at].from_client) {
                    bytes wire = fill_in(messages[at], names);
                    wire.resize(at == last ? std::min(cut, wire.size()) : wire.size());
                    client.driver.feed(wire);
                    continue;
                }
                const auto got = std::span{client.driver.output}.subspan(taken);
                const auto size =
                    transport::load<std::uint32_t>(got.data() + 4, std::endian::little);
                // Sizes differ with the limits, so only what the server chose is taken.
                std::size_t from = 0;
                for (const piece& each : messages[at].pieces) {
                    if (!each.name.empty()) {
                        names[each.name] = {
                            got.begin() + static_cast<std::ptrdiff_t>(from),
                            got.begin() + static_cast<std::ptrdiff_t>(from + each.size)};
                    }
                    from += each.size;
                }
                taken += size;
            }
        }
        site.time.advance(std::chrono::hours{2});
        site.host->expire(site.time.now());
    }
    raw_client after = site.connect();
    after.open_session();
    EXPECT_EQ(raw_client::result_of(after.call(after.read_request({"press/tank/level"}))),
              status::good);
}

// A capture of the conversation, as tshark reads it.
class capture {
  public:
    capture() {
        append(file_, encoded([](encoder& out) {
                   out.u32(0xA1B2C3D4);
                   out.u16(2);
                   out.u16(4);
                   out.u32(0);
                   out.u32(0);
                   out.u32(262'144);
                   out.u32(101);  // raw IP
               }));
    }
    void add(bool from_client, std::span<const std::byte> payload) {
        std::uint32_t& next = from_client ? client_next_ : server_next_;
        const std::uint32_t other = from_client ? server_next_ : client_next_;
        const auto length = static_cast<std::uint16_t>(40 + payload.size());
        bytes packet = encoded([&](encoder& out) {
            out.u32(seconds_++);
            out.u32(0);
            out.u32(length);
            out.u32(length);
        });
        const auto big16 = [&](std::uint16_t value) {
            packet.push_back(static_cast<std::byte>(value >> 8U));
            packet.push_back(static_cast<std::byte>(value & 0xFFU));
        };
        const auto big32 = [&](std::uint32_t value) {
            big16(static_cast<std::uint16_t>(value >> 16U));
            big16(static_cast<std::uint16_t>(value & 0xFFFFU));
        };
        big16(0x4500);
        big16(length);
        big32(0);
        big16(0x4006);  // time to live, TCP
        big16(0);       // checksum: not verified
        big32(from_client ? 0xC0000201 : 0xC0000202);
        big32(from_client ? 0xC0000202 : 0xC0000201);
        big16(from_client ? 50'000 : port);
        big16(from_client ? port : 50'000);
        big32(next);
        big32(other);
        big16(0x5018);  // header of 20 bytes, PSH and ACK
        big16(0xFFFF);
        big32(0);
        append(packet, payload);
        append(file_, packet);
        next += static_cast<std::uint32_t>(payload.size());
        ++count_;
    }
    void save(const std::filesystem::path& path) const {
        std::ofstream out{path, std::ios::binary};
        out.write(reinterpret_cast<const char*>(file_.data()),
                  static_cast<std::streamsize>(file_.size()));
    }
    std::size_t count() const { return count_; }
    static constexpr std::uint16_t port = 48'400;

  private:
    bytes file_{};
    std::uint32_t client_next_ = 1;
    std::uint32_t server_next_ = 1;
    std::uint32_t seconds_ = 1'700'000'000;
    std::size_t count_ = 0;
};

std::string output_of(const std::string& command) {
    std::string out;
    FILE* const pipe = popen(command.c_str(), "r");
    std::array<char, 4096> part{};
    std::size_t got = 0;
    while ((got = std::fread(part.data(), 1, part.size(), pipe)) != 0) {
        out.append(part.data(), got);
    }
    EXPECT_EQ(pclose(pipe), 0) << command;
    return out;
}

TEST(golden, tshark_finds_nothing_malformed_in_it) {
    if (std::system("command -v tshark >/dev/null 2>&1") != 0) {
        GTEST_SKIP() << "tshark is not installed";
    }
    plant site;
    raw_client client = site.connect();
    capture wire;
    chosen names;
    std::size_t taken = 0;
    std::size_t messages = 0;
    for (const golden_message& message : read_golden("tests/golden/opcua/read_one_value.txt")) {
        ++messages;
        if (message.from_client) {
            const bytes sent = fill_in(message, names);
            wire.add(true, sent);
            client.driver.feed(sent);
            continue;
        }
        const auto got = std::span{client.driver.output}.subspan(taken);
        const auto size = transport::load<std::uint32_t>(got.data() + 4, std::endian::little);
        hold_against(message, got.first(size), names);
        wire.add(false, got.first(size));
        taken += size;
    }
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / "tagferry_opcua_golden.pcap";
    wire.save(file);
    const std::string tshark = "tshark -r '" + file.string() +
                               "' -d tcp.port==" + std::to_string(capture::port) +
                               ",opcua 2>/dev/null ";
    const std::string types = output_of(tshark + "-Y opcua -T fields -e opcua.transport.type");
    EXPECT_EQ(static_cast<std::size_t>(std::count(types.begin(), types.end(), '\n')), messages);
    EXPECT_EQ(output_of(tshark + "-Y '_ws.malformed || _ws.expert.severity >= warning'"), "");
    const std::string services =
        output_of(tshark + "-Y opcua -T fields -e opcua.servicenodeid.numeric");
    for (const char* number : {"446", "449", "461", "464", "467", "470", "527", "530", "631", "634",
                               "397", "473", "476", "452"}) {
        EXPECT_NE(services.find(number), std::string::npos) << number;
    }
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace tagferry::opcua::test
