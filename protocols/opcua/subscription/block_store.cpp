#include "protocols/opcua/subscription/block_store.hpp"

namespace tagferry::opcua {

block_store::block_store(std::size_t block_size, std::size_t bytes)
    : block_size_(block_size),
      capacity_(std::max<std::size_t>(bytes / block_size, 1)),
      memory_(capacity_ * block_size) {}

std::uint32_t block_store::take() noexcept {
    std::uint32_t taken = first_free_;
    if (taken != 0) {
        first_free_ = next(taken);
    } else if (made_ != capacity_ && memory_.commit((made_ + 1) * block_size_)) {
        taken = static_cast<std::uint32_t>(++made_);
    } else {
        return 0;
    }
    used_.add(1);
    set_next(taken, 0);
    return taken;
}

void block_store::release(std::uint32_t chain) noexcept {
    while (chain != 0) {
        const std::uint32_t rest = next(chain);
        set_next(chain, first_free_);
        first_free_ = chain;
        used_.subtract(1);
        chain = rest;
    }
}

block_store::writer::writer(block_store& store, std::uint32_t chain) noexcept
    : store_(store), first_(chain), last_(chain) {
    store_.release(store_.next(chain));
    store_.set_next(chain, 0);
}

bool block_store::writer::append(bytes_view bytes) noexcept {
    while (!bytes.empty()) {
        if (last_ == 0 || used_ == store_.payload_size()) {
            const std::uint32_t more = store_.take();
            if (more == 0) {
                return false;
            }
            if (last_ == 0) {
                first_ = more;
            } else {
                store_.set_next(last_, more);
            }
            last_ = more;
            used_ = 0;
        }
        const std::size_t part = std::min(bytes.size(), store_.payload_size() - used_);
        std::memcpy(store_.block_at(last_) + used_, bytes.data(), part);
        used_ += part;
        bytes = bytes.subspan(part);
    }
    return true;
}

std::uint32_t block_store::writer::finish() noexcept {
    const std::uint32_t done = first_;
    first_ = 0;
    return done;
}

}  // namespace tagferry::opcua
