#include "transport/net/client_link.hpp"

#include "transport/memory/operations.hpp"
#include "transport/net/driver.hpp"
#include "transport/net/name_lookup.hpp"
#include "transport/net/socket.hpp"
#include "transport/time/back_off.hpp"

#include <cerrno>
#include <optional>
#include <random>
#include <vector>

namespace tagferry::transport {

std::string_view name_of(link_state state) noexcept {
    switch (state) {
        case link_state::stopped:
            return "stopped";
        case link_state::resolving:
            return "resolving";
        case link_state::connecting:
            return "connecting";
        case link_state::up:
            return "up";
        case link_state::waiting:
            return "waiting";
        case link_state::stopping:
            return "stopping";
    }
    return "unknown";
}

namespace {

back_off_options back_off_of(const client_link_options& options) noexcept {
    return {.first = options.back_off_first, .ceiling = options.back_off_max, .jitter = 0.25};
}

std::uint64_t seed_of(const client_link_options& options) {
    return options.back_off_seed != 0 ? options.back_off_seed : std::random_device{}();
}

}  // namespace

struct client_link::state final : descriptor_watcher, driver_owner, lookup_sink {
    state(shard& owner, worker_pool& resolver, const client_link_options& wished, engine& client,
          link_observer* watcher)
        : home(owner),
          options(wished),
          mind(client),
          observer(watcher),
          lookup(owner, resolver, *this),
          delays(back_off_of(wished), seed_of(wished)),
          alarm(*this) {}
    ~state() { drop_socket(); }

    void start();
    void stop();
    void restart();
    void shut();

    void schedule_attempt(time_point at);
    void alarm_rings(time_point now);
    void begin_attempt(time_point now);
    void looked_up(const lookup_result& result, time_point now) override;
    void connect_next(time_point now);
    bool connect_to(const address& peer);
    void ready(readiness what) override;
    void connected(time_point now);
    void attempt_failed(std::error_code error, time_point now);
    void driver_finished(const close_info& info, time_point now) override;
    void wait_for_next(time_point now);
    void drop_socket() noexcept;
    void enter(link_state entered, time_point now);

    shard& home;
    const client_link_options options;
    engine& mind;
    link_observer* observer;
    link_status status;
    bool wanted = false;     ///< started and not stopped
    bool at_once = false;    ///< the next attempt follows without a wait
    bool told = true;        ///< the observer is told of changes
    std::error_code failed;  ///< why the last address of this attempt failed
    std::vector<address> addresses;
    std::size_t next_address = 0;
    std::optional<address> last_good;  ///< connected to before, under this name
    bool try_last_good = false;        ///< before the name is looked up again
    owned_descriptor socket;           ///< while connecting
    std::unique_ptr<tcp_driver> driver;
    name_lookup lookup;
    back_off delays;
    member_timer<state, &state::alarm_rings> alarm;  ///< the next attempt, or the end of this one
};

void client_link::state::enter(link_state entered, time_point now) {
    status.state = entered;
    status.since = now;
    if (entered != link_state::waiting) {
        status.next_attempt = time_point::max();
    }
    if (told && observer != nullptr) {
        observer->link_changed(status);
    }
}

void client_link::state::start() {
    if (wanted) {
        return;
    }
    wanted = true;
    if (driver != nullptr) {
        at_once = true;  // it is closing; a new attempt follows
        return;
    }
    delays.reset();
    schedule_attempt(home.time_source().now());
}

void client_link::state::stop() {
    if (!wanted) {
        return;
    }
    wanted = false;
    at_once = false;
    if (driver != nullptr) {
        driver->close_after_flush(close_reason::requested);
        enter(link_state::stopping, home.now());
        return;
    }
    alarm.cancel();
    drop_socket();
    enter(link_state::stopped, home.time_source().now());
}

void client_link::state::restart() {
    wanted = true;
    delays.reset();
    if (driver != nullptr) {
        at_once = true;
        driver->close_after_flush(close_reason::requested);
        enter(link_state::stopping, home.now());
        return;
    }
    drop_socket();
    schedule_attempt(home.time_source().now());
}

void client_link::state::shut() {
    wanted = false;
    told = false;
    if (driver != nullptr) {
        driver->shut(close_reason::shutting_down, home.now());
    }
}

// Attempts begin in the timer and nowhere else, so that a failure at once does not recurse.
void client_link::state::schedule_attempt(time_point at) {
    home.wheel().schedule(alarm, at);
    status.next_attempt = at;
    enter(link_state::waiting, home.time_source().now());
}

void client_link::state::alarm_rings(time_point now) {
    const operation_scope scope(kind_control);
    if (status.state == link_state::waiting) {
        begin_attempt(now);
    } else {
        const bool resolving = status.state == link_state::resolving;
        drop_socket();
        attempt_failed(
            resolving ? silent_name_server() : std::make_error_code(std::errc::timed_out), now);
    }
}

void client_link::state::begin_attempt(time_point now) {
    ++status.attempts;
    failed = {};
    next_address = 0;
    home.wheel().schedule(alarm, now + options.connect_timeout);
    if (const auto numeric = parse_host(options.host, options.port)) {
        addresses.assign(1, *numeric);
        connect_next(now);
        return;
    }
    addresses.clear();
    const bool asked = lookup.begin(options.host, options.port);
    if (last_good && try_last_good) {
        addresses.push_back(*last_good);
        connect_next(now);
    } else if (asked) {
        enter(link_state::resolving, now);
    } else {
        attempt_failed(std::make_error_code(std::errc::resource_unavailable_try_again), now);
    }
}

void client_link::state::looked_up(const lookup_result& result, time_point now) {
    if (status.state == link_state::connecting) {
        // Beside the attempt at the last good address: the others follow when that fails.
        for (const address& each : result.addresses) {
            if (last_good && !(each == *last_good)) {
                addresses.push_back(each);
            }
        }
        return;
    }
    if (status.state != link_state::resolving) {
        return;  // that attempt has timed out, or was stopped
    }
    addresses = result.addresses;
    if (addresses.empty() && last_good) {
        addresses.push_back(*last_good);
    }
    failed = result.error;
    connect_next(now);
}

void client_link::state::connect_next(time_point now) {
    while (next_address < addresses.size()) {
        status.peer = addresses[next_address++];
        if (connect_to(status.peer)) {
            enter(link_state::connecting, now);
            return;
        }
    }
    attempt_failed(failed, now);
}

bool client_link::state::connect_to(const address& peer) {
    socket = open_socket(peer, failed);
    if (!socket) {
        return false;
    }
    tune(socket.get(), {.keep_alive_idle_s = options.keep_alive_idle_s,
                        .keep_alive_interval_s = options.keep_alive_interval_s,
                        .keep_alive_probes = options.keep_alive_probes,
                        .user_timeout = options.tcp_user_timeout});
    socket_address raw = to_socket_address(peer);
    if (::connect(socket.get(), raw.generic(), raw.size) != 0 && errno != EINPROGRESS) {
        failed = last_system_error();
        socket.reset();
        return false;
    }
    // Ready to write, or broken, when the handshake has ended; at once when it already has.
    failed = home.descriptors().add(socket.get(), {.readable = false, .writable = true}, *this);
    if (failed) {
        socket.reset();
    }
    return static_cast<bool>(socket);
}

void client_link::state::ready(readiness) {
    const operation_scope scope(kind_control);
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    const time_point now = home.now();
    if (error != 0) {
        failed = {error, std::system_category()};
        drop_socket();
        connect_next(now);
        return;
    }
    connected(now);
}

void client_link::state::connected(time_point now) {
    alarm.cancel();
    home.descriptors().remove(socket.get(), *this);
    last_good = status.peer;
    try_last_good = true;
    ++status.successes;
    driver = std::make_unique<tcp_driver>(home, mind, *this, options.connection, home.descriptors(),
                                          socket.release());
    enter(link_state::up, now);
    if (driver != nullptr) {
        driver->open(now);
        if (!wanted || at_once) {
            driver->close_after_flush(close_reason::requested);  // stopped by the observer
        }
    }
}

void client_link::state::attempt_failed(std::error_code error, time_point now) {
    alarm.cancel();
    try_last_good = last_good && is_silent_name_server(error);
    options.connection.counters->connect_failures.add(1);
    status.last_close = {close_reason::connect_failed, error};
    wait_for_next(now);
}

void client_link::state::driver_finished(const close_info& info, time_point now) {
    const operation_scope scope(kind_control);
    driver.reset();
    status.last_close = info;
    if (now - status.since >= options.back_off_max) {
        delays.reset();
    }
    if (!wanted) {
        enter(link_state::stopped, now);
    } else if (at_once) {
        at_once = false;
        schedule_attempt(now);
    } else {
        wait_for_next(now);
    }
}

void client_link::state::wait_for_next(time_point now) {
    schedule_attempt(now + delays.next());
}

void client_link::state::drop_socket() noexcept {
    if (socket) {
        home.descriptors().remove(socket.get(), *this);
        socket.reset();
    }
}

client_link::client_link(shard& owner, worker_pool& resolver, const client_link_options& options,
                         engine& client, link_observer* observer)
    : state_(std::make_unique<state>(owner, resolver, options, client, observer)) {}

client_link::~client_link() {
    const turn_scope turn(state_->home);
    state_->shut();
}

void client_link::start() {
    state_->start();
}

void client_link::stop() {
    state_->stop();
}

void client_link::restart() {
    state_->restart();
}

const link_status& client_link::status() const noexcept {
    return state_->status;
}

}  // namespace tagferry::transport
