#include "transport/memory/op_memory.hpp"

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <array>

namespace tagferry::transport {
namespace {

namespace asio = boost::asio;

TEST(op_memory, is_the_handlers_associated_allocator) {
    op_memory<256> memory;
    auto handler = bind_op_memory(memory, [] {});
    auto allocator = asio::get_associated_allocator(handler);
    int* const taken =
        std::allocator_traits<decltype(allocator)>::rebind_alloc<int>(allocator).allocate(1);
    EXPECT_TRUE(memory.in_use());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(taken) % alignof(std::max_align_t), 0u);
    EXPECT_GE(static_cast<void*>(taken), static_cast<void*>(&memory));
    EXPECT_LT(static_cast<void*>(taken), static_cast<void*>(&memory + 1));
    std::allocator_traits<decltype(allocator)>::rebind_alloc<int>(allocator).deallocate(taken, 1);
    EXPECT_FALSE(memory.in_use());
}

TEST(op_memory, keeps_the_handlers_executor) {
    asio::io_context first;
    asio::io_context second;
    op_memory<256> memory;
    auto handler = bind_op_memory(memory, asio::bind_executor(second.get_executor(), [] {}));
    EXPECT_EQ(asio::get_associated_executor(handler, first.get_executor()), second.get_executor());
}

// Each handler starts the next operation in the same block: Asio gives it back before the call.
class timer_chain {
  public:
    explicit timer_chain(asio::io_context& context) : timer_(context.get_executor()) {}
    void start() {
        timer_.expires_after(std::chrono::nanoseconds{1});
        timer_.async_wait(bind_op_memory(memory_, [this](boost::system::error_code) {
            EXPECT_FALSE(memory_.in_use());
            if (++rounds_ < 100) {
                start();
            }
        }));
        EXPECT_TRUE(memory_.in_use());
    }
    int rounds() const { return rounds_; }

  private:
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>,
                               asio::io_context::executor_type>
        timer_;
    op_memory<192> memory_;
    int rounds_ = 0;
};

TEST(op_memory, one_block_serves_a_chain) {
    asio::io_context context(1);
    timer_chain chain(context);
    chain.start();
    context.run();
    EXPECT_EQ(chain.rounds(), 100);
}

TEST(op_memory, serves_posts_reads_and_composed_writes) {
    using socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
    asio::io_context context(1);
    asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    socket client(context.get_executor());
    client.connect(acceptor.local_endpoint());
    socket server(context.get_executor());
    acceptor.accept(server);

    op_memory<512> read_memory;
    op_memory<512> write_memory;
    op_memory<128> post_memory;
    const std::array<char, 5> sent{'h', 'e', 'l', 'l', 'o'};
    std::array<char, 16> received{};
    std::size_t received_size = 0;
    bool posted = false;
    server.async_read_some(asio::buffer(received),
                           bind_op_memory(read_memory, [&](auto, std::size_t size) {
                               EXPECT_FALSE(read_memory.in_use());
                               received_size = size;
                           }));
    asio::async_write(client, asio::buffer(sent),
                      bind_op_memory(write_memory, [&](auto, std::size_t) {}));
    asio::post(context.get_executor(), bind_op_memory(post_memory, [&] { posted = true; }));
    EXPECT_TRUE(read_memory.in_use());
    EXPECT_TRUE(write_memory.in_use());
    EXPECT_TRUE(post_memory.in_use());
    context.run();
    EXPECT_EQ(received_size, 5u);
    EXPECT_TRUE(posted);
}

TEST(op_memory_death, two_operations_at_once_end_the_process) {
    EXPECT_DEATH(
        {
            asio::io_context context(1);
            op_memory<256> memory;
            asio::post(context.get_executor(), bind_op_memory(memory, [] {}));
            asio::post(context.get_executor(), bind_op_memory(memory, [] {}));
        },
        "two operations at once in one op_memory");
}

}  // namespace
}  // namespace tagferry::transport
