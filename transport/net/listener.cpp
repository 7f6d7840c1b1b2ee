#include "transport/net/listener.hpp"

#include "transport/memory/operations.hpp"
#include "transport/net/driver.hpp"
#include "transport/net/socket.hpp"
#include "transport/threads/shard.hpp"

#include <array>
#include <cerrno>
#include <utility>

namespace tagferry::transport {
namespace {

constexpr duration report_interval = std::chrono::seconds{1};
constexpr int accepts_per_turn = 16;

/// Things of one kind happen often; a log line about them is worth one a second.
class rate_limit {
  public:
    /// @return how many happened since the last report, or 0 when none is due.
    std::uint64_t happened(time_point now) noexcept {
        ++count_;
        if (now < next_report_) {
            return 0;
        }
        next_report_ = now + report_interval;
        return std::exchange(count_, 0);
    }

  private:
    std::uint64_t count_ = 0;
    time_point next_report_{};
};

}  // namespace

struct listener::state {
    class port;
    class connection;
    using connection_list = intrusive_list<connection, connection>;

    state(shard& owner, const listener_options& wished, engine_factory& maker)
        : home(owner), options(wished), factory(maker), pause(*this) {}

    void begin_accepting(time_point);
    void pause_accepting(std::error_code error);
    void admit(int descriptor, const address& peer);
    bool over_limits(const address& peer, time_point now);
    void report(listener_event event, const address& peer, std::error_code error, time_point now);

    shard& home;
    const listener_options options;
    engine_factory& factory;
    std::vector<std::unique_ptr<port>> ports;
    std::vector<address> bound;
    connection_list connections;
    std::size_t connection_count = 0;
    bool accepting = false;
    member_timer<state, &state::begin_accepting> pause;
    std::array<rate_limit, 3> limits;
};

/// One address listened on.
class listener::state::port final : public descriptor_watcher {
  public:
    port(state& owner, const address& where)
        : owner_(owner), listening_(open_listening(where, owner.options.backlog)) {}
    ~port() { watch(false); }

    address bound() const noexcept { return local_address(listening_.get()); }

    void watch(bool wanted) noexcept {
        if (wanted == watched_) {
            return;
        }
        poller& source = owner_.home.descriptors();
        if (wanted) {
            watched_ = !source.add(listening_.get(), {.readable = true, .writable = false}, *this);
        } else {
            source.remove(listening_.get(), *this);
            watched_ = false;
        }
    }
    void close() noexcept {
        watch(false);
        listening_.reset();
    }

  private:
    void ready(readiness) override {
        for (int i = 0; i < accepts_per_turn && watched_; ++i) {
            socket_address peer;
            const int accepted = ::accept4(listening_.get(), peer.generic(), &peer.size,
                                           SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (accepted >= 0) {
                owner_.admit(accepted, from_socket_address(peer));
                continue;
            }
            const auto error = last_system_error();
            if (error.value() == EAGAIN || error.value() == EWOULDBLOCK) {
                return;
            }
            // A peer that gave up while it waited is no fault of the listener. Everything else is
            // a shortage, of which level-triggered reports would never end.
            if (error.value() != ECONNABORTED && error.value() != EINTR) {
                owner_.pause_accepting(error);
            }
        }
    }

    state& owner_;
    owned_descriptor listening_;
    bool watched_ = false;
};

/// One connection with its engine; destroys itself when it is over.
class listener::state::connection final : public driver_owner, public list_hook<connection> {
  public:
    connection(state& owner, std::unique_ptr<engine> mind, int descriptor, const address& peer)
        : owner_(owner),
          peer_(peer),
          engine_(std::move(mind)),
          driver_(owner.home, *engine_, *this, owner.options.connection, owner.home.descriptors(),
                  descriptor) {
        owner_.connections.push_back(*this);
        ++owner_.connection_count;
    }
    ~connection() { --owner_.connection_count; }

    tcp_driver& driver() noexcept { return driver_; }
    const address& peer() const noexcept { return peer_; }

  private:
    void driver_finished(const close_info&, time_point) override {
        const operation_scope scope(kind_control);
        delete this;
    }

    state& owner_;
    address peer_;
    std::unique_ptr<engine> engine_;
    tcp_driver driver_;
};

void listener::state::begin_accepting(time_point) {
    if (!accepting) {
        return;
    }
    for (const auto& each : ports) {
        each->watch(true);
    }
}

void listener::state::pause_accepting(std::error_code error) {
    for (const auto& each : ports) {
        each->watch(false);
    }
    options.connection.counters->accept_errors.add(1);
    report(listener_event::accept_failed, {}, error, home.now());
    home.wheel().schedule(pause, home.now() + options.accept_pause);
}

bool listener::state::over_limits(const address& peer, time_point now) {
    traffic& counters = *options.connection.counters;
    if (connection_count >= options.max_connections) {
        counters.refused_in_all.add(1);
        report(listener_event::refused_in_all, peer, {}, now);
        return true;
    }
    std::size_t from_peer = 0;
    for (connection* each = connections.empty() ? nullptr : &connections.front(); each != nullptr;
         each = connections.after(*each)) {
        from_peer += each->peer().same_host(peer) ? 1U : 0U;
    }
    if (from_peer >= options.max_connections_per_address) {
        counters.refused_by_address.add(1);
        report(listener_event::refused_by_address, peer, {}, now);
        return true;
    }
    return false;
}

void listener::state::report(listener_event event, const address& peer, std::error_code error,
                             time_point now) {
    const std::uint64_t count = limits[static_cast<std::size_t>(event)].happened(now);
    if (count != 0 && options.observer != nullptr) {
        options.observer->happened(event, peer, error, count);
    }
}

void listener::state::admit(int descriptor, const address& peer) {
    const operation_scope scope(kind_control);
    owned_descriptor accepted(descriptor);
    if (over_limits(peer, home.now())) {
        return;
    }
    tune(descriptor, {.keep_alive_idle_s = options.keep_alive_idle_s,
                      .keep_alive_interval_s = options.keep_alive_interval_s,
                      .keep_alive_probes = options.keep_alive_probes});
    auto mind = factory.make_engine({peer, local_address(descriptor)});
    if (mind == nullptr) {
        return;
    }
    // Owned by itself from here on, and listed, so that the listener can end it.
    auto* const made = new connection(*this, std::move(mind), accepted.release(), peer);
    made->driver().open(home.now());
}

listener::listener(shard& owner, const listener_options& options, engine_factory& factory)
    : state_(std::make_unique<state>(owner, options, factory)) {
    for (const address& where : options.addresses) {
        state_->ports.push_back(std::make_unique<state::port>(*state_, where));
        state_->bound.push_back(state_->ports.back()->bound());
    }
}

listener::~listener() {
    const turn_scope turn(state_->home);
    stop_accepting();
    while (!state_->connections.empty()) {
        state_->connections.front().driver().shut(close_reason::shutting_down, state_->home.now());
    }
}

std::span<const address> listener::bound() const noexcept {
    return state_->bound;
}

void listener::start() {
    state_->accepting = true;
    state_->begin_accepting({});
}

void listener::stop_accepting() {
    state_->accepting = false;
    state_->pause.cancel();
    for (const auto& each : state_->ports) {
        each->close();
    }
}

void listener::stop() {
    const turn_scope turn(state_->home);
    stop_accepting();
    auto& connections = state_->connections;
    for (auto* each = connections.empty() ? nullptr : &connections.front(); each != nullptr;
         each = connections.after(*each)) {
        each->driver().close_after_flush(close_reason::shutting_down);
    }
}

bool listener::idle() const noexcept {
    return state_->connection_count == 0;
}

std::size_t listener::connection_count() const noexcept {
    return state_->connection_count;
}

}  // namespace tagferry::transport
