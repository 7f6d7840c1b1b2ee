#include "gateway/cli/gateway_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <csignal>
#include <optional>

namespace tagferry::gateway::cli {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr std::chrono::seconds longest_request{10};
/// The gateway pings every 20 seconds; three that did not come are enough.
constexpr std::chrono::seconds longest_silence{60};
constexpr std::size_t largest_answer = 256U * 1024U * 1024U;
constexpr std::size_t largest_message = 16U * 1024U * 1024U;

std::string string_of(beast::string_view text) {
    return {text.data(), text.size()};
}

std::string words_of(const error_code& error) {
    if (error == beast::error::timeout) {
        return "no answer in time";
    }
    if (error == http::error::end_of_stream || error == asio::error::eof) {
        return "it closed the connection";
    }
    return error.message();
}

}  // namespace

std::string gateway_address::url() const {
    const bool six = host.find(':') != std::string::npos;
    return "http://" + (six ? "[" + host + "]" : host) + ":" + port;
}

gateway_address gateway_address_of(std::string_view url) {
    const auto fault = [&](const std::string& words) {
        return client_fault(exit_code::usage, "\"" + std::string{url} + "\" " + words +
                                                  "; write e.g. http://127.0.0.1:8080");
    };
    std::string_view rest = url;
    if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
        if (rest.substr(0, scheme) != "http") {
            throw fault("is not an http URL, and this version speaks nothing else");
        }
        rest.remove_prefix(scheme + 3);
    }
    while (rest.ends_with('/')) {
        rest.remove_suffix(1);
    }
    gateway_address made;
    std::size_t colon = rest.rfind(':');
    if (rest.starts_with('[')) {
        const std::size_t bracket = rest.find(']');
        if (bracket == std::string_view::npos) {
            throw fault("has an opening bracket only");
        }
        made.host = rest.substr(1, bracket - 1);
        colon = rest.find(':', bracket);
    } else {
        made.host = rest.substr(0, colon);
    }
    made.port = colon == std::string_view::npos ? "80" : rest.substr(colon + 1);
    const bool number = !made.port.empty() && made.port.size() <= 5 &&
                        made.port.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoul(made.port) == 0 || std::stoul(made.port) > 65'535) {
        throw fault("has no port from 1 to 65535");
    }
    if (made.host.empty() || made.host.find_first_of(" /?#@") != std::string::npos) {
        throw fault("has no host");
    }
    return made;
}

struct gateway_client::parts {
    explicit parts(gateway_address address) : where(std::move(address)) {}

    /// Runs what is under way until `done`.
    void run_until(const bool& done) {
        io.restart();
        while (!done) {
            io.run_one();
        }
    }

    client_fault unavailable(const error_code& error) const {
        return {exit_code::unavailable,
                "no gateway answers at " + where.url() + ": " + words_of(error)};
    }

    void connect(beast::tcp_stream& with) {
        tcp::resolver resolver(io);
        error_code error;
        const auto found = resolver.resolve(where.host, where.port, error);
        if (error) {
            throw client_fault(exit_code::unavailable,
                               "\"" + where.host + "\" cannot be found: " + error.message());
        }
        bool done = false;
        with.expires_after(longest_request);
        with.async_connect(found, [&](error_code fault, const tcp::endpoint&) {
            error = fault;
            done = true;
        });
        run_until(done);
        if (error) {
            throw unavailable(error);
        }
    }

    std::string host_field() const {
        const bool six = where.host.find(':') != std::string::npos;
        return (six ? "[" + where.host + "]" : where.host) + ":" + where.port;
    }

    using stream_type = websocket::stream<beast::tcp_stream>;

    gateway_address where;
    asio::io_context io{1};
    asio::signal_set signals{io};
    std::optional<stream_type> stream;
    beast::flat_buffer incoming{largest_message};
    error_code read_error;
    std::string close_words;
    bool reading = false;
    bool arrived = false;
    bool interrupted = false;
};

gateway_client::gateway_client(gateway_address where)
    : parts_(std::make_unique<parts>(std::move(where))) {}

gateway_client::~gateway_client() = default;

const gateway_address& gateway_client::where() const noexcept {
    return parts_->where;
}

http_answer gateway_client::request(std::string_view method, std::string_view target,
                                    const std::string& json) {
    beast::tcp_stream stream(parts_->io);
    parts_->connect(stream);
    http::request<http::string_body> asked(http::string_to_verb({method.data(), method.size()}),
                                           {target.data(), target.size()}, 11);
    asked.set(http::field::host, parts_->host_field());
    asked.set(http::field::user_agent, "tagferry");
    asked.set(http::field::accept, "application/json");
    if (!parts_->where.token.empty()) {
        asked.set(http::field::authorization, "Bearer " + parts_->where.token);
    }
    if (!json.empty()) {
        asked.set(http::field::content_type, "application/json");
        asked.body() = json;
    }
    asked.keep_alive(false);
    asked.prepare_payload();

    error_code error;
    bool done = false;
    const auto finished = [&](error_code fault, std::size_t) {
        error = fault;
        done = true;
    };
    stream.expires_after(longest_request);
    http::async_write(stream, asked, finished);
    parts_->run_until(done);
    if (error) {
        throw parts_->unavailable(error);
    }
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(largest_answer);
    done = false;
    stream.expires_after(longest_request);
    http::async_read(stream, buffer, parser, finished);
    parts_->run_until(done);
    if (error) {
        throw parts_->unavailable(error);
    }
    return {parser.get().result_int(), std::move(parser.get().body())};
}

void gateway_client::catch_signals() {
    parts_->signals.add(SIGINT);
    parts_->signals.add(SIGTERM);
    parts_->signals.async_wait([this](error_code error, int) {
        if (!error) {
            parts_->interrupted = true;
        }
    });
}

void gateway_client::open_stream() {
    parts& own = *parts_;
    own.reading = false;
    own.incoming.clear();
    own.stream.emplace(own.io);
    own.connect(beast::get_lowest_layer(*own.stream));
    beast::get_lowest_layer(*own.stream).expires_never();
    own.stream->set_option(
        websocket::stream_base::timeout{longest_request, longest_silence, false});
    own.stream->set_option(
        websocket::stream_base::decorator([&own](websocket::request_type& asked) {
            asked.set(http::field::sec_websocket_protocol, "tagferry.v1.json");
            asked.set(http::field::user_agent, "tagferry");
            if (!own.where.token.empty()) {
                asked.set(http::field::authorization, "Bearer " + own.where.token);
            }
        }));
    websocket::response_type answer;
    error_code error;
    bool done = false;
    own.stream->async_handshake(answer, own.host_field(), "/api/v1/stream", [&](error_code fault) {
        error = fault;
        done = true;
    });
    own.run_until(done);
    if (!error) {
        return;
    }
    own.stream.reset();
    const unsigned status = answer.result_int();
    if (error != websocket::error::upgrade_declined) {
        throw own.unavailable(error);
    }
    const bool forbidden = status == 401 || status == 403;
    throw client_fault(forbidden ? exit_code::no_permission : exit_code::unavailable,
                       own.where.url() + " does not open its stream: HTTP " +
                           std::to_string(status) + " " + string_of(answer.reason()) +
                           (forbidden ? "; name a token with --token-file" : ""));
}

void gateway_client::send(const std::string& message) {
    if (!parts_->stream) {
        throw client_fault(exit_code::unavailable, "the stream is closed");
    }
    error_code error;
    bool done = false;
    parts_->stream->text(true);
    parts_->stream->async_write(asio::buffer(message), [&](error_code fault, std::size_t) {
        error = fault;
        done = true;
    });
    parts_->run_until(done);
    if (error) {
        throw parts_->unavailable(error);
    }
}

gateway_client::waited gateway_client::wait(std::chrono::milliseconds longest,
                                            std::string& message) {
    parts& own = *parts_;
    const auto end = std::chrono::steady_clock::now() + longest;
    own.io.restart();
    if (own.stream && !own.reading) {
        own.reading = true;
        own.arrived = false;
        own.stream->async_read(own.incoming, [&own](error_code fault, std::size_t) {
            own.read_error = fault;
            own.arrived = true;
        });
    }
    while (!own.interrupted && !(own.stream && own.arrived)) {
        if (std::chrono::steady_clock::now() >= end) {
            return waited::time_passed;
        }
        own.io.run_one_until(end);
    }
    if (own.interrupted) {
        return waited::interrupted;
    }
    own.reading = false;
    own.arrived = false;
    if (own.read_error) {
        const websocket::close_reason reason = own.stream->reason();
        own.close_words = own.read_error != websocket::error::closed ? words_of(own.read_error)
                          : reason.reason.empty() ? "code " + std::to_string(reason.code)
                                                  : std::string{reason.reason.c_str()};
        own.stream.reset();
        return waited::closed;
    }
    message = beast::buffers_to_string(own.incoming.data());
    own.incoming.consume(own.incoming.size());
    return waited::message;
}

const std::string& gateway_client::close_reason() const noexcept {
    return parts_->close_words;
}

}  // namespace tagferry::gateway::cli
