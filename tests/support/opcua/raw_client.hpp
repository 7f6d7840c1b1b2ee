// A client of our own that speaks to a connection engine in memory: it writes what it likes, in
// pieces as small as it likes, and keeps every byte that comes back.
#pragma once

#include "protocols/opcua/channel/open_message.hpp"
#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/server/server.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "tests/support/opcua/fake_backend.hpp"
#include "transport/time/manual_clock.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::opcua::test {

using bytes = std::vector<std::byte>;

inline void append(bytes& to, std::span<const std::byte> more) {
    to.insert(to.end(), more.begin(), more.end());
}

/// Encodes with `write(encoder&)` into a vector.
template <typename Write>
bytes encoded(Write&& write) {
    static const auto room = std::make_unique<std::array<std::byte, 512 * 1024>>();
    encoder out{*room};
    write(out);
    return {room->begin(), room->begin() + static_cast<std::ptrdiff_t>(out.used())};
}

/// One message that came back, put together from its chunks.
struct reply {
    std::string type{};  // "ACK", "ERR", "OPN", "MSG"
    std::uint32_t channel_id = 0;
    std::uint32_t token_id = 0;
    std::uint32_t request_id = 0;
    std::vector<std::uint32_t> sequence_numbers{};
    std::vector<std::uint32_t> chunk_sizes{};
    bytes body{};
};

/// The driver's part, in memory: input in pieces, output collected, write reports given.
class memory_driver final : public transport::engine_host {
  public:
    memory_driver(std::unique_ptr<transport::engine> engine, const transport::clock& time)
        : engine_(std::move(engine)), time_(time) {
        engine_->opened(*this, time_.now());
    }
    ~memory_driver() { shut(transport::close_reason::peer_closed); }

    void output_ready() noexcept override {}
    void close_after_flush(transport::close_reason why) noexcept override {
        closing_ = true;
        reason = reason ? reason : std::optional{why};
    }
    void abort(transport::close_reason why) noexcept override { close_after_flush(why); }

    void feed(std::span<const std::byte> more) {
        append(input_, more);
        turn();
    }
    void feed_in_pieces(std::span<const std::byte> more, std::size_t piece) {
        for (; !more.empty(); more = more.subspan(std::min(piece, more.size()))) {
            feed(more.first(std::min(piece, more.size())));
        }
    }

    /// One turn: what was received is shown once, in memory of its exact size that is gone
    /// afterwards (RX5), then what the engine has to say is taken.
    bool half_turn() {
        bool again = false;
        if (!closing_ && !input_.empty() && engine_->wants_input().wanted) {
            const auto shown = std::make_unique<std::byte[]>(input_.size());
            std::memcpy(shown.get(), input_.data(), input_.size());
            const auto result = engine_->receive({shown.get(), input_.size()}, time_.now());
            input_.erase(input_.begin(),
                         input_.begin() + static_cast<std::ptrdiff_t>(result.consumed));
            again = result.more;
        }
        return again;
    }
    void turn() {
        while (half_turn()) {
            ++yields;
        }
        flush();
    }
    void flush() {
        if (hold_output) {
            return;
        }
        for (;;) {
            transport::send_batch batch{16};
            engine_->pull(batch, time_.now());
            if (batch.empty()) {
                return;
            }
            for (const auto segment : batch.segments()) {
                append(output, segment);
            }
            for (const std::size_t size : batch.message_sizes()) {
                engine_->written({size, {}});
            }
            half_turn();  // a slot may have come back
        }
    }
    void expire() {
        if (!closing_ && engine_ && engine_->deadline() <= time_.now()) {
            engine_->expire(time_.now());
        }
        flush();
    }
    void shut(transport::close_reason why) {
        if (engine_) {
            engine_->closed({why, {}}, time_.now());
            engine_.reset();
        }
    }
    transport::engine& engine() { return *engine_; }
    std::size_t unconsumed() const { return input_.size(); }
    bool closing() const { return closing_; }

    bytes output{};
    std::optional<transport::close_reason> reason{};
    std::size_t yields = 0;
    bool hold_output = false;

  private:
    std::unique_ptr<transport::engine> engine_;
    const transport::clock& time_;
    bytes input_{};
    bool closing_ = false;
};

class raw_client {
  public:
    raw_client(server& target, const transport::clock& time, std::string_view peer = "198.51.100.7")
        : driver(target.make_connection(peer), time) {}
    raw_client(std::unique_ptr<transport::engine> far, const transport::clock& time)
        : driver(std::move(far), time) {}

    // What goes on the wire.

    static bytes frame(std::string_view type_and_kind, std::span<const std::byte> body) {
        bytes whole = encoded([&](encoder& out) {
            out.raw(std::as_bytes(std::span{type_and_kind.data(), 4}));
            out.u32(static_cast<std::uint32_t>(8 + body.size()));
        });
        append(whole, body);
        return whole;
    }
    static bytes hello_frame(std::uint32_t receive = 65'536, std::uint32_t send = 65'536,
                             std::uint32_t message = 0, std::uint32_t chunks = 0,
                             text_view url = "opc.tcp://plant.example:4840") {
        return frame("HELF", encoded([&](encoder& out) {
                         out.u32(0);
                         out.u32(receive);
                         out.u32(send);
                         out.u32(message);
                         out.u32(chunks);
                         out.string(url);
                     }));
    }
    void write_request_head(encoder& out, std::uint32_t type, std::uint32_t timeout_ms = 0) {
        out.numeric_id(0, type);
        if (token.empty()) {
            out.numeric_id(0, 0);
        } else {
            out.node_id({0, node_id_kind::opaque, 0, token});
        }
        out.i64(133'444'736'000'000'000);
        out.u32(++handle);
        out.u32(0);
        out.string({});
        out.u32(timeout_ms);
        out.null_extension_object();
    }
    bytes open_frame(bool renew = false, std::uint32_t lifetime_ms = 600'000,
                     text_view policy = policy_none, std::uint32_t mode = 1) {
        return frame("OPNF", encoded([&](encoder& out) {
                         out.u32(channel_id);
                         out.string(policy);
                         out.i32(-1);
                         out.i32(-1);
                         out.u32(next_sequence());
                         out.u32(++request_id);
                         write_request_head(out, id::open_secure_channel_request_binary);
                         out.u32(0);
                         out.u32(renew ? 1 : 0);
                         out.u32(mode);
                         out.byte_string({});
                         out.u32(lifetime_ms);
                     }));
    }
    std::uint32_t next_sequence() { return ++sequence; }
    /// One chunk around part of a message.
    bytes chunk(std::string_view type_and_kind, std::span<const std::byte> body,
                std::uint32_t for_request) {
        bytes inner = encoded([&](encoder& out) {
            out.u32(channel_id);
            out.u32(token_id);
            out.u32(next_sequence());
            out.u32(for_request);
        });
        append(inner, body);
        return frame(type_and_kind, inner);
    }
    /// A whole request in one chunk; `write(encoder&)` writes what follows its header.
    template <typename Write>
    bytes request(std::uint32_t type, Write&& write, std::uint32_t timeout_ms = 0) {
        const bytes body = encoded([&](encoder& out) {
            write_request_head(out, type, timeout_ms);
            write(out);
        });
        return chunk("MSGF", body, ++request_id);
    }

    // What came back.

    bool has_reply() const { return driver.output.size() - read_ >= 8; }

    /// The next message; `type` is empty when there is none.
    reply next() {
        reply message;
        for (;;) {
            const std::size_t left = driver.output.size() - read_;
            if (left < 8) {
                return {};
            }
            const std::byte* const at = driver.output.data() + read_;
            const auto size = transport::load<std::uint32_t>(at + 4, std::endian::little);
            message.type.assign(reinterpret_cast<const char*>(at), 3);
            const char kind = static_cast<char>(at[3]);
            message.chunk_sizes.push_back(size);
            decoder in{{at + 8, size - 8}, limits_};
            if (message.type == "MSG") {
                message.channel_id = in.u32();
                message.token_id = in.u32();
                message.sequence_numbers.push_back(in.u32());
                message.request_id = in.u32();
            }
            append(message.body, in.bytes(in.remaining()));
            read_ += size;
            if (kind == 'F') {
                return message;
            }
        }
    }

    /// The service result of a response; `type` receives its encoding id, `rest` what follows.
    static status_code result_of(const reply& message, std::uint32_t* type = nullptr,
                                 bytes* rest = nullptr) {
        static const limits bounds;
        decoder in{message.body, bounds};
        const node_id_view id = in.node_id();
        in.i64();
        in.u32();
        const status_code result = in.u32();
        in.skip_diagnostic_info();
        in.skip_strings();
        in.extension_object();
        if (type != nullptr) {
            *type = id.number;
        }
        if (rest != nullptr) {
            const bytes_view left = in.bytes(in.remaining());
            rest->assign(left.begin(), left.end());
        }
        return in.ok() ? result : status_code{status::bad_decoding_error};
    }
    /// The code of an Error message.
    static status_code error_of(const reply& message) {
        static const limits bounds;
        decoder in{message.body, bounds};
        return message.type == "ERR" ? in.u32() : status_code{status::good};
    }

    // Whole steps.

    reply call(std::span<const std::byte> sent) {
        driver.feed(sent);
        return next();
    }
    void hello() { call(hello_frame()); }
    void take_open(const reply& message) {
        decoder in{message.body, limits_};
        channel_id = in.u32();
        in.string();
        in.i32();
        in.i32();
        in.u32();
        in.u32();
        bytes rest;
        reply inner = message;
        const bytes_view left = in.bytes(in.remaining());
        inner.body.assign(left.begin(), left.end());
        result_of(inner, nullptr, &rest);
        decoder body{rest, limits_};
        body.u32();
        body.u32();
        token_id = body.u32();
    }
    void open() {
        hello();
        take_open(call(open_frame()));
    }
    bytes create_session_request(double timeout_ms = 60'000, text_view name = "test") {
        token.clear();
        return request(id::create_session_request_binary, [&](encoder& out) {
            out.string("urn:test:client");
            out.string({});
            out.localized_text("client");
            out.u32(1);
            out.string({});
            out.string({});
            out.i32(-1);
            out.string({});
            out.string("opc.tcp://plant.example:4840");
            out.string(name);
            out.byte_string({});
            out.byte_string({});
            out.float64(timeout_ms);
            out.u32(0);
        });
    }
    status_code create_session(double timeout_ms = 60'000, text_view name = "test") {
        const reply answer = call(create_session_request(timeout_ms, name));
        bytes rest;
        const status_code result = result_of(answer, nullptr, &rest);
        if (result == status::good) {
            decoder in{rest, limits_};
            session_number = in.node_id().number;
            token = std::string{in.node_id().bytes};
            revised_timeout_ms = in.float64();
        }
        return result;
    }
    template <typename Token>
    bytes activate_request(Token&& identity) {
        return request(id::activate_session_request_binary, [&](encoder& out) {
            out.string({});
            out.byte_string({});
            out.i32(-1);
            out.i32(1);
            out.string("en");
            identity(out);
            out.string({});
            out.byte_string({});
        });
    }
    static void anonymous(encoder& out, text_view policy = "anonymous") {
        out.numeric_id(0, id::anonymous_identity_token_binary);
        out.u8(1);
        out.i32(static_cast<std::int32_t>(4 + policy.size()));
        out.string(policy);
    }
    status_code activate() {
        return result_of(call(activate_request([](encoder& out) { anonymous(out); })));
    }
    void open_session() {
        open();
        create_session();
        activate();
    }

    bytes read_request(const std::vector<std::string>& paths, double max_age = 1'000,
                       std::uint32_t attribute_id = 13, std::uint32_t timestamps = 2,
                       text_view range = {}, std::uint32_t timeout_ms = 0) {
        return request(
            id::read_request_binary,
            [&](encoder& out) {
                out.float64(max_age);
                out.u32(timestamps);
                out.i32(static_cast<std::int32_t>(paths.size()));
                for (const std::string& path : paths) {
                    write_id(out, path);
                    out.u32(attribute_id);
                    out.string(range);
                    out.qualified_name(0, {});
                }
            },
            timeout_ms);
    }
    /// "#2258" is a number of namespace 0, "3#7" one of namespace 3, anything else a tag's path.
    static void write_id(encoder& out, std::string_view text) {
        const std::size_t hash = text.find('#');
        if (hash == std::string_view::npos) {
            out.node_id({3, node_id_kind::string, 0, text});
            return;
        }
        const std::string space{hash == 0 ? "0" : text.substr(0, hash)};
        const std::string number{text.substr(hash + 1)};
        out.numeric_id(static_cast<std::uint16_t>(std::stoul(space)),
                       static_cast<std::uint32_t>(std::stoul(number)));
    }

    memory_driver driver;
    std::uint32_t channel_id = 0;
    std::uint32_t token_id = 0;
    std::uint32_t sequence = 0;
    std::uint32_t request_id = 0;
    std::uint32_t handle = 0;
    std::uint32_t session_number = 0;
    std::string token{};
    double revised_timeout_ms = 0;

  private:
    limits limits_{};
    std::size_t read_ = 0;
};

/// A server over a fake gateway with a few tags, and time that stands still.
struct plant {
    explicit plant(limits in_force = {}) : bounds(in_force) {
        gateway.add_tag("press/tank/level", builtin_type::float32, slot_of(42.5F));
        gateway.add_tag("press/recipe/name", builtin_type::string, slot_of_text("Grün"));
        bytes numbers;
        for (std::int16_t each = 0; each < 5; ++each) {
            append(numbers, slot_of(static_cast<std::int16_t>(each * 10)));
        }
        gateway.add_tag("press/array", builtin_type::int16, numbers, 5);
        host = std::make_unique<server>(gateway.ports(), bounds, time);
    }
    raw_client connect() { return raw_client{*host, time}; }

    /// Lets time pass in steps of 1 ms, with everything that is due.
    void pass(std::chrono::milliseconds span) {
        for (; span.count() > 0; span -= std::chrono::milliseconds{1}) {
            time.advance(std::chrono::milliseconds{1});
            turn();
        }
    }
    /// What is due now.
    void turn() {
        transport::turn_budget timers{time, time.now(), 100'000, std::chrono::hours{1}};
        gateway.wheel().advance(time.now(), timers);
        gateway.run_turns(time.now());
        host->expire(time.now());
    }

    transport::manual_clock time{};
    fake_backend gateway{};
    limits bounds;
    std::unique_ptr<server> host;
};

/// A small server, so that limits are near.
inline limits small_limits() {
    limits bounds;
    bounds.chunk_size = 8'192;
    bounds.max_request_size = 65'536;
    bounds.max_request_chunks = 8;
    bounds.response_slots = 64;
    bounds.request_slots = 16;
    bounds.assembly_slots = 4;
    bounds.max_sessions = 4;
    bounds.max_channels = 6;
    bounds.max_pending_operations = 8;
    return bounds;
}

}  // namespace tagferry::opcua::test
