// Reader and writer against one another: the input is a script of reads over its own bytes; what
// was read is written again and must give the same bytes, in both orders, and no cursor may ever
// leave its bounds.

#include "transport/bytes/reader.hpp"
#include "transport/bytes/writer.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

namespace tagferry::transport {
namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

template <typename Reader, typename Writer>
class round_trip {
  public:
    explicit round_trip(std::span<const std::byte> input)
        : input_(input),
          // Exactly as large as the input, so that the checker sees one byte too many.
          copy_(std::make_unique<std::byte[]>(input.size())),
          in_(input),
          out_({copy_.get(), input.size()}) {}

    void run(std::span<const std::byte> script) {
        for (const std::byte step : script) {
            const std::size_t before = in_.position();
            const bool was_ok = in_.ok();
            do_step(std::to_integer<unsigned>(step));
            check(before, was_ok);
        }
        require(std::memcmp(copy_.get(), input_.data(), out_.position()) == 0);
        overflow();
    }

  private:
    template <typename T>
    void copy_scalar() {
        const T value = in_.template read<T>();
        if (in_.ok()) {
            out_.template write<T>(value);
        } else {
            require(value == T{});
        }
    }

    void copy_bytes(std::size_t count) {
        const auto view = in_.bytes(count);
        require(view.size() == (in_.ok() ? count : 0));
        if (in_.ok()) {
            out_.bytes(view);
        }
    }

    // Reserved first and patched after the bytes behind it are there, as headers are.
    void copy_patched() {
        const auto size = in_.u16();
        const std::size_t count = size % 32U;
        const auto view = in_.bytes(count);
        if (!in_.ok()) {
            ended_in_part_ = true;
            return;
        }
        const std::size_t at = out_.position();
        require(out_.reserve(2).size() == 2);
        out_.bytes(view);
        out_.patch(at, size);
    }

    void do_step(unsigned step) {
        switch (step % 8U) {
            case 0:
                return copy_scalar<std::uint8_t>();
            case 1:
                return copy_scalar<std::uint16_t>();
            case 2:
                return copy_scalar<std::int32_t>();
            case 3:
                return copy_scalar<std::uint64_t>();
            case 4:
                return copy_scalar<std::int64_t>();
            case 5:
                return copy_bytes(step / 8U);
            case 6:
                return copy_patched();
            default:
                return copy_bytes(step < 248U ? 0U : SIZE_MAX - step);
        }
    }

    void check(std::size_t before, bool was_ok) {
        require(in_.position() <= input_.size());
        require(in_.position() + in_.remaining() == input_.size());
        require(in_.position() >= before);
        require(was_ok || !in_.ok());
        require(in_.ok() || in_.remaining() == 0);
        require(out_.ok());
        require(!in_.ok() || ended_in_part_ || out_.position() == in_.position());
    }

    // The writer is exactly full, then one byte over.
    void overflow() {
        out_.zeros(out_.remaining());
        require(out_.ok() && out_.position() == input_.size());
        out_.u8(1);
        require(!out_.ok() && out_.position() == input_.size() && out_.remaining() == 0);
    }

    std::span<const std::byte> input_;
    std::unique_ptr<std::byte[]> copy_;
    Reader in_;
    Writer out_;
    bool ended_in_part_ = false;
};

}  // namespace
}  // namespace tagferry::transport

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tagferry::transport;
    const auto all = std::as_bytes(std::span(data, size));
    const auto script = all.first(size / 3);
    // A copy of its own, so that reading past its end is seen.
    const std::size_t rest = size - script.size();
    const auto input = std::make_unique<std::byte[]>(rest);
    if (rest != 0) {
        std::memcpy(input.get(), all.data() + script.size(), rest);
    }
    round_trip<big_endian_reader, big_endian_writer>({input.get(), rest}).run(script);
    round_trip<little_endian_reader, little_endian_writer>({input.get(), rest}).run(script);
    return 0;
}
