// A server over the fake backend and a client that takes answers apart.
#pragma once

#include "tests/unit/web/fake_backend.hpp"
#include "tests/unit/web/scripted_connection.hpp"
#include "web/server.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tagferry::web::testing {

struct answer {
    int status = 0;
    std::map<std::string, std::string> fields;  // names in lower case
    std::string body;
    bool chunked = false;

    std::string field(const std::string& name) const {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string() : found->second;
    }
    nlohmann::json json() const { return nlohmann::json::parse(body); }
};

inline std::string trimmed(std::string text) {
    while (!text.empty() && text.front() == ' ') {
        text.erase(0, 1);
    }
    while (!text.empty() && text.back() == ' ') {
        text.pop_back();
    }
    return text;
}

/// Takes the answers off the front of `wire`; what is incomplete or malformed stays in it.
inline std::vector<answer> take_answers(std::string& wire, bool heads_only = false) {
    std::vector<answer> answers;
    for (;;) {
        const std::size_t head_end = wire.find("\r\n\r\n");
        if (!wire.starts_with("HTTP/1.1 ") || head_end == std::string::npos) {
            return answers;
        }
        answer one;
        one.status = std::stoi(wire.substr(9, 3));
        std::size_t at = wire.find("\r\n") + 2;
        while (at < head_end + 2) {
            const std::size_t line_end = wire.find("\r\n", at);
            const std::string line = wire.substr(at, line_end - at);
            const std::size_t colon = line.find(':');
            std::string name = line.substr(0, colon);
            for (char& letter : name) {
                letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
            }
            one.fields[name] = trimmed(line.substr(colon + 1));
            at = line_end + 2;
        }
        at = head_end + 4;
        const std::string length = one.field("content-length");
        if (heads_only || one.status == 204 || one.status == 304 || one.status < 200) {
            // No body.
        } else if (!length.empty()) {
            const auto size = static_cast<std::size_t>(std::stoul(length));
            if (wire.size() - at < size) {
                return answers;
            }
            one.body = wire.substr(at, size);
            at += size;
        } else if (one.field("transfer-encoding") == "chunked") {
            one.chunked = true;
            for (;;) {
                const std::size_t line_end = wire.find("\r\n", at);
                if (line_end == std::string::npos) {
                    return answers;
                }
                const auto size = std::stoul(wire.substr(at, line_end - at), nullptr, 16);
                at = line_end + 2;
                if (wire.size() < at + size + 2 || wire.substr(at + size, 2) != "\r\n") {
                    return answers;
                }
                one.body += wire.substr(at, size);
                at += size + 2;
                if (size == 0) {
                    break;
                }
            }
        } else {
            one.body = wire.substr(at);
            at = wire.size();
        }
        wire.erase(0, at);
        answers.push_back(std::move(one));
    }
}

class web_test : public ::testing::Test {
  protected:
    web_test() {
        add_usual_tags(above.values);
        options.host_names = {"x"};
    }

    server& serve() {
        if (!server_) {
            server_.emplace(options, parts_.emplace(above.parts()), above.clock);
        }
        return *server_;
    }

    scripted_connection& connect() {
        connections_.push_back(std::make_unique<scripted_connection>(
            serve().make_engine("127.0.0.1:50000", channel_security::loopback), now()));
        return *connections_.back();
    }

    transport::time_point now() const { return above.clock.now(); }

    static std::string request(std::string_view target, std::string_view method = "GET",
                               std::string_view fields = {}) {
        std::string text(method);
        text += " ";
        text += target;
        text += " HTTP/1.1\r\nHost: localhost\r\n";
        text += fields;
        text += "\r\n";
        return text;
    }

    /// One request on a connection of its own.
    answer get(std::string_view target, std::string_view method = "GET",
               std::string_view fields = {}) {
        auto& connection = connect();
        connection.send(request(target, method, fields), now());
        std::string wire = connection.take();
        auto answers = take_answers(wire, method == "HEAD");
        EXPECT_EQ(answers.size(), 1U) << target << '\n' << wire;
        EXPECT_EQ(wire, "");
        return answers.empty() ? answer{} : answers.front();
    }

    /// Sends raw bytes on a new connection and gives everything that came back.
    std::string exchange_raw(std::string_view bytes) {
        auto& connection = connect();
        connection.send(bytes, now());
        return connection.take();
    }

    /// The statuses of all answers to raw bytes, and whether the connection ended.
    std::vector<int> statuses(std::string_view bytes, bool* ended = nullptr) {
        auto& connection = connect();
        connection.send(bytes, now());
        std::string wire = connection.take();
        std::vector<int> found;
        for (const auto& one : take_answers(wire)) {
            found.push_back(one.status);
        }
        EXPECT_EQ(wire, "");
        if (ended != nullptr) {
            *ended = connection.ended();
        }
        return found;
    }

    template <typename Visit>
    void for_each_connection(Visit&& visit) {
        for (const auto& each : connections_) {
            visit(*each);
        }
    }

    fake_backend above;
    server_options options;

  private:
    std::optional<backend> parts_;
    std::optional<server> server_;
    std::vector<std::unique_ptr<scripted_connection>> connections_;
};

}  // namespace tagferry::web::testing
