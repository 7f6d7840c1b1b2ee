// The product with another way to send: one write for each OPC UA message, as a server does that
// writes an answer when it has it. Linked with --wrap=syscall and --wrap=sendmsg.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
long __real_syscall(long number, ...) noexcept;
long __wrap_syscall(long number, ...) noexcept;
ssize_t __wrap_sendmsg(int descriptor, const msghdr* message, int flags);
}

namespace {

constexpr std::size_t header_size = 8;

std::size_t message_size(const char* bytes, std::size_t size) {
    if (size < header_size || std::memcmp(bytes, "MSG", 3) != 0) {
        return size;
    }
    std::uint32_t told = 0;
    std::memcpy(&told, bytes + 4, sizeof told);
    return told < size ? told : size;
}

long send_each(long descriptor, const void* from, std::size_t size, long flags) {
    const auto* const bytes = static_cast<const char*>(from);
    std::size_t sent = 0;
    while (sent < size) {
        const std::size_t part = message_size(bytes + sent, size - sent);
        const long went =
            __real_syscall(SYS_sendto, descriptor, bytes + sent, part, flags, nullptr, 0L);
        if (went <= 0) {
            return sent == 0 ? went : static_cast<long>(sent);
        }
        sent += static_cast<std::size_t>(went);
        if (static_cast<std::size_t>(went) < part) {
            break;
        }
    }
    return static_cast<long>(sent);
}

}  // namespace

ssize_t __wrap_sendmsg(int descriptor, const msghdr* message, int flags) {
    ssize_t sent = 0;
    for (std::size_t at = 0; at < message->msg_iovlen; ++at) {
        const iovec& piece = message->msg_iov[at];
        const long went = send_each(descriptor, piece.iov_base, piece.iov_len, flags);
        if (went <= 0) {
            return sent == 0 ? went : sent;
        }
        sent += went;
        if (static_cast<std::size_t>(went) < piece.iov_len) {
            break;
        }
    }
    return sent;
}

long __wrap_syscall(long number, ...) noexcept {
    va_list list;
    va_start(list, number);
    const long first = va_arg(list, long);
    void* const second = va_arg(list, void*);
    const auto third = va_arg(list, std::size_t);
    const long fourth = va_arg(list, long);
    void* const fifth = va_arg(list, void*);
    const long sixth = va_arg(list, long);
    va_end(list);
    return number == SYS_sendto
               ? send_each(first, second, third, fourth)
               : __real_syscall(number, first, second, third, fourth, fifth, sixth);
}
