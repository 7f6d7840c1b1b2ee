// What the long-running commands have in common: the log's thread, signals, the line for scripts.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/log/log.hpp"
#include "gateway/log/log_sink.hpp"
#include "transport/threads/storage_thread.hpp"
#include "transport/time/clock.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace tagferry::gateway {

class gateway;

enum class signal_seen : std::uint8_t {
    none,    ///< the time has passed without
    end,     ///< SIGTERM or SIGINT
    reload,  ///< SIGHUP
};

/// Waits for SIGTERM, SIGINT and SIGHUP. Made before any other thread, so that every thread
/// inherits the signals blocked and only `wait` takes them. SIGPIPE is ignored.
class end_signals {
  public:
    end_signals();
    signal_seen wait(std::chrono::milliseconds longest);

    /// Blocks them on this thread: what comes before there is an `end_signals` waits for it.
    static void block();
};

/// The log of a process, written by its storage thread until destroyed.
class process_log {
  public:
    /// @param clock outlives the log.
    process_log(const config::log_section& settings, const config::process_limits& limits,
                const transport::clock& clock);
    ~process_log() { storage_.stop(); }

    log::logger& logger() noexcept { return logger_; }

  private:
    transport::storage_thread storage_;
    log::log_sink sink_;
    log::storage_output output_;
    log::logger logger_;
};

/// What a script wants to know once the process serves; empty lists are left out.
struct serving_line {
    std::vector<std::string> opcua;
    std::vector<std::string> http;
    std::vector<std::string> s7;
    std::string token = {};  ///< that writes over REST, made for this run; empty: none
};

/// `{"opcua":"opc.tcp://…","http":"http://…","s7":["127.0.0.1:…"],"pid":…,"token":…}` and a
/// line end.
/// Of several OPC UA or HTTP addresses the first.
void print_serving_line(std::ostream& out, const serving_line& line);

/// Waits for the end: a signal, or the end of `--duration`. There is nothing to reload.
void wait_for_end(end_signals& signals, std::optional<std::chrono::milliseconds> longest);

/// From the end of a start to a signal or the end of `--duration`: keeps systemd's watchdog
/// content while every shard turns, and tells it in words how things are.
/// @param longest nothing: until a signal comes. @param reload called on SIGHUP; may be empty.
void serve_until_end(end_signals& signals, gateway& served,
                     std::optional<std::chrono::milliseconds> longest,
                     const std::function<void(gateway&)>& reload);

/// Reads `50s`, `10m`, `2h` or `1500ms`. Empty when the text is anything else, or is not over 0.
std::optional<std::chrono::milliseconds> parse_duration(const std::string& text);

}  // namespace tagferry::gateway
