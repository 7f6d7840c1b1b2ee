#include "gateway/health/service_manager.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace tagferry::gateway::cli {
namespace {

// Listens where systemd would.
class manager {
  public:
    manager() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        std::string name = (std::filesystem::temp_directory_path() / "tagferry_XXXXXX").string();
        folder_ = mkdtemp(name.data());
        const std::string path = (folder_ / "notify").string();
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        setenv("NOTIFY_SOCKET", path.c_str(), 1);
    }
    ~manager() {
        unsetenv("NOTIFY_SOCKET");
        close(socket_);
        std::filesystem::remove_all(folder_);
    }
    manager(const manager&) = delete;
    manager& operator=(const manager&) = delete;

    std::string message() const {
        std::array<char, 1'024> bytes{};
        const ssize_t size = recv(socket_, bytes.data(), bytes.size(), 0);
        return size > 0 ? std::string(bytes.data(), static_cast<std::size_t>(size)) : "";
    }

  private:
    int socket_;
    std::filesystem::path folder_;
};

TEST(service_manager, is_silent_without_one) {
    unsetenv("NOTIFY_SOCKET");
    EXPECT_FALSE(service_manager::present());
    EXPECT_TRUE(service_manager::ready("serving"));
    EXPECT_FALSE(service_manager::alive_interval());
}

TEST(service_manager, tells_what_systemd_expects) {
    const manager listening;
    EXPECT_TRUE(service_manager::present());
    EXPECT_TRUE(service_manager::ready("2/2 PLCs"));
    EXPECT_EQ(listening.message(), "READY=1\nSTATUS=2/2 PLCs");
    EXPECT_TRUE(service_manager::status("one line\nMAINPID=1"));
    EXPECT_EQ(listening.message(), "STATUS=one line");
    EXPECT_TRUE(service_manager::status(std::string(1'000, 'x')));
    EXPECT_EQ(listening.message(), "STATUS=" + std::string(256, 'x'));
    EXPECT_TRUE(service_manager::alive());
    EXPECT_EQ(listening.message(), "WATCHDOG=1");
    EXPECT_TRUE(service_manager::stopping());
    EXPECT_EQ(listening.message(), "STOPPING=1");
}

TEST(service_manager, asks_for_signs_of_life_at_half_the_limit) {
    setenv("WATCHDOG_USEC", "20000000", 1);
    const auto interval = service_manager::alive_interval();
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->count(), 10'000'000);
    setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
    EXPECT_TRUE(service_manager::alive_interval());
    setenv("WATCHDOG_PID", "1", 1);
    EXPECT_FALSE(service_manager::alive_interval()) << "meant for another process";
    unsetenv("WATCHDOG_PID");
    setenv("WATCHDOG_USEC", "soon", 1);
    EXPECT_FALSE(service_manager::alive_interval());
    unsetenv("WATCHDOG_USEC");
}

TEST(service_manager, finds_an_abstract_socket) {
    const std::string name = "@tagferry-test-" + std::to_string(getpid());
    const int listening = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1, 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), size), 0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_TRUE(service_manager::alive());
    unsetenv("NOTIFY_SOCKET");
    std::array<char, 64> bytes{};
    EXPECT_EQ(recv(listening, bytes.data(), bytes.size(), 0), 10);
    close(listening);
}

TEST(service_manager, says_when_it_cannot_tell) {
    setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
    EXPECT_FALSE(service_manager::status("x"));
    setenv("NOTIFY_SOCKET", "no path", 1);
    EXPECT_FALSE(service_manager::status("x"));
    setenv("NOTIFY_SOCKET", ("/" + std::string(200, 'x')).c_str(), 1);
    EXPECT_FALSE(service_manager::status("x")) << "longer than an address";
    unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace tagferry::gateway::cli
