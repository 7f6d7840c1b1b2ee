// The product with another way to receive: first the eight bytes of a frame's header, then its
// body, as a server does that has no staging buffer. Linked with --wrap=syscall, in front of the
// product's objects.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
long __real_syscall(long number, ...) noexcept;
long __wrap_syscall(long number, ...) noexcept;
}

namespace {

constexpr std::size_t header_size = 8;

long receive(long descriptor, void* into, std::size_t size) {
    return __real_syscall(SYS_recvfrom, descriptor, into, size, 0L, nullptr, nullptr);
}

bool is_opcua(const char* header) {
    return std::memcmp(header, "MSG", 3) == 0 || std::memcmp(header, "OPN", 3) == 0 ||
           std::memcmp(header, "HEL", 3) == 0 || std::memcmp(header, "CLO", 3) == 0;
}

// Anything that is no OPC UA frame, or not the beginning of one, is received as the product does.
long receive_frame(long descriptor, void* into, std::size_t size) {
    auto* const bytes = static_cast<char*>(into);
    const long got = receive(descriptor, into, size < header_size ? size : header_size);
    if (got != static_cast<long>(header_size)) {
        return got;
    }
    std::size_t rest = size - header_size;
    if (is_opcua(bytes)) {
        std::uint32_t frame = 0;
        std::memcpy(&frame, bytes + 4, sizeof frame);
        rest = frame - header_size < rest ? frame - header_size : rest;
    }
    const long more = rest == 0 ? 0 : receive(descriptor, bytes + header_size, rest);
    return more > 0 ? got + more : got;
}

}  // namespace

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
    return number == SYS_recvfrom
               ? receive_frame(first, second, third)
               : __real_syscall(number, first, second, third, fourth, fifth, sixth);
}
