#include "transport/net/name_lookup.hpp"

#include "transport/memory/operations.hpp"
#include "transport/net/socket.hpp"

#include <netdb.h>

#include <cstring>
#include <memory>
#include <mutex>

namespace tagferry::transport {
namespace {

/// Texts of the resolver's own codes.
class lookup_category final : public std::error_category {
  public:
    const char* name() const noexcept override { return "lookup"; }
    std::string message(int code) const override { return gai_strerror(code); }
};

const lookup_category& category() noexcept {
    static const lookup_category instance;
    return instance;
}

std::error_code lookup_error(int code) noexcept {
    if (code == EAI_SYSTEM) {
        return last_system_error();
    }
    return {code, category()};
}

void look_up(const std::string& host, std::uint16_t port, lookup_result& result) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
    if (code != 0) {
        result.error = lookup_error(code);
        return;
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        socket_address raw;
        if (each->ai_addrlen > sizeof raw.storage) {
            continue;
        }
        std::memcpy(&raw.storage, each->ai_addr, each->ai_addrlen);
        raw.size = each->ai_addrlen;
        address value = from_socket_address(raw);
        value.port = port;
        result.addresses.push_back(value);
    }
}

}  // namespace

bool is_silent_name_server(std::error_code error) noexcept {
    return error == silent_name_server();
}

bool is_unknown_name(std::error_code error) noexcept {
    return error.category() == category() && !is_silent_name_server(error);
}

std::error_code silent_name_server() noexcept {
    return {EAI_AGAIN, category()};
}

/// One look-up under way. It belongs to the list of all, not to who asked, because the worker may
/// outlast both the asker and the shard.
class name_lookup::request final : public completion_sink {
  public:
    request(std::string host, std::uint16_t port) : host_(std::move(host)), port_(port) {}

    static request* make(const std::string& host, std::uint16_t port) {
        const std::lock_guard lock(mutex());
        all().push_back(std::make_unique<request>(host, port));
        return all().back().get();
    }
    static void drop(const request* finished) {
        const std::lock_guard lock(mutex());
        std::erase_if(all(), [finished](const auto& each) { return each.get() == finished; });
    }

    static std::uint32_t run(void* object, job::payload_type&) {
        auto& self = *static_cast<request*>(object);
        const operation_scope scope(kind_control);
        look_up(self.host_, self.port_, self.result_);
        return 0;
    }

    void resume(completion_token, std::uint32_t result, time_point now) override {
        const operation_scope scope(kind_control);
        if (asker != nullptr) {
            asker->running_ = nullptr;
            if (result != 0) {
                result_.error = std::make_error_code(std::errc::operation_canceled);
            }
            asker->sink_.looked_up(result_, now);
        }
        drop(this);
    }

    name_lookup* asker = nullptr;

  private:
    static std::mutex& mutex() {
        static std::mutex instance;
        return instance;
    }
    static std::vector<std::unique_ptr<request>>& all() {
        static std::vector<std::unique_ptr<request>> instance;
        return instance;
    }

    std::string host_;
    std::uint16_t port_;
    lookup_result result_;
};

name_lookup::~name_lookup() {
    if (running_ != nullptr) {
        running_->asker = nullptr;
    }
}

bool name_lookup::begin(const std::string& host, std::uint16_t port) {
    if (running_ != nullptr) {
        return true;
    }
    request* const made = request::make(host, port);
    made->asker = this;
    if (!workers_.submit({.run = &request::run, .object = made, .owner = &shard_, .sink = made})) {
        request::drop(made);
        return false;
    }
    running_ = made;
    return true;
}

}  // namespace tagferry::transport
