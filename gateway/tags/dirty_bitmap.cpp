#include "gateway/tags/dirty_bitmap.hpp"

namespace tagferry::gateway {

dirty_bitmap::dirty_bitmap(std::size_t bits)
    : word_count_((bits + 63) / 64),
      summary_count_((word_count_ + 63) / 64),
      words_(std::make_unique<std::atomic<std::uint64_t>[]>(word_count_)),
      summary_(std::make_unique<std::atomic<std::uint64_t>[]>(summary_count_)) {}

bool dirty_bitmap::next_word() noexcept {
    for (;;) {
        while (summary_bits_ == 0) {
            if (next_summary_ == summary_count_) {
                next_summary_ = 0;
                return false;
            }
            summary_at_ = next_summary_++;
            if (summary_[summary_at_].load(std::memory_order_relaxed) != 0) {
                summary_bits_ = summary_[summary_at_].exchange(0, std::memory_order_acq_rel);
            }
        }
        const int bit = std::countr_zero(summary_bits_);
        summary_bits_ &= summary_bits_ - 1;
        word_ = summary_at_ * 64 + static_cast<std::size_t>(bit);
        // The summary bit is gone before the word is emptied: a mark that comes between finds the
        // word full and is taken here; one that comes after sets the summary again.
        bits_ = words_[word_].exchange(0, std::memory_order_acq_rel);
        if (bits_ != 0) {
            return true;
        }
    }
}

}  // namespace tagferry::gateway
