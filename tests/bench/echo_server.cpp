// The echo engine behind the product's listener and driver, on one shard. Prints its port and
// serves until SIGTERM.
//
//   echo_server [PORT]
#include "tests/support/echo_engine.hpp"
#include "transport/net/listener.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/shard.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace tagferry;

class echo_factory final : public transport::engine_factory {
  public:
    std::unique_ptr<transport::engine> make_engine(const transport::peer_info&) override {
        return std::make_unique<testing::echo_engine>();
    }
};

transport::shard* serving = nullptr;

void stop(int) {
    serving->stop();
}

}  // namespace

int main(int count, char** arguments) {
    const transport::real_clock clock;
    transport::traffic counters("echo");
    transport::shard shard({.name = "echo", .index = 0, .mailbox_capacity = 64}, clock);
    echo_factory factory;
    transport::listener_options options;
    options.addresses = {*transport::parse_host(
        "127.0.0.1", static_cast<std::uint16_t>(count > 1 ? std::atoi(arguments[1]) : 0))};
    options.max_connections_per_address = options.max_connections;
    options.connection.counters = &counters;
    transport::listener listener(shard, options, factory);
    std::printf("%u\n", static_cast<unsigned>(listener.bound()[0].port));
    std::fflush(stdout);
    serving = &shard;
    std::signal(SIGTERM, stop);
    listener.start();
    shard.run_here();
    std::fprintf(stderr, "%llu messages in %llu writes, %llu reads\n",
                 static_cast<unsigned long long>(counters.messages.value()),
                 static_cast<unsigned long long>(counters.writes.value()),
                 static_cast<unsigned long long>(counters.reads.value()));
}
