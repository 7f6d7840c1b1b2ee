// Which of many tags have news, in two levels: a bit per tag, and a bit per word of those bits.
// Marking costs the same however many tags there are; draining costs what was marked, and one
// look at a summary word per 4,096 tags.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tagferry::gateway {

class dirty_bitmap {
  public:
    /// @param bits tags, 1 and up; indexes passed in below are under this number.
    explicit dirty_bitmap(std::size_t bits);

    /// Any thread. Everything the caller wrote before is visible to the drain that takes the bit.
    /// True when the consumer may not know that there is news: wake it.
    bool mark(std::uint32_t index) noexcept {
        const std::size_t word = index / 64;
        const std::uint64_t bit = std::uint64_t{1} << (index % 64);
        if (words_[word].fetch_or(bit, std::memory_order_acq_rel) != 0) {
            // Whoever found the word empty marks, or has marked, the summary.
            return false;
        }
        const std::uint64_t summary_bit = std::uint64_t{1} << (word % 64);
        return summary_[word / 64].fetch_or(summary_bit, std::memory_order_acq_rel) == 0;
    }

    /// Any thread. Takes the bit away again. True when it was set and nobody had taken it.
    bool take(std::uint32_t index) noexcept {
        std::atomic<std::uint64_t>& word = words_[index / 64];
        const std::uint64_t bit = std::uint64_t{1} << (index % 64);
        if ((word.load(std::memory_order_relaxed) & bit) == 0) {
            return false;
        }
        return (word.fetch_and(~bit, std::memory_order_acq_rel) & bit) != 0;
    }

    /// Consumer thread. Takes at most `limit` bits, in no promised order, and calls
    /// `visit(std::uint32_t index)` for each. Fewer than `limit` means that one whole pass is
    /// over; bits marked behind it meanwhile have made their `mark` return true.
    template <typename Visit>
    std::size_t drain(std::size_t limit, Visit&& visit) {
        std::size_t taken = 0;
        while (taken < limit && (bits_ != 0 || next_word())) {
            const int bit = std::countr_zero(bits_);
            bits_ &= bits_ - 1;
            visit(static_cast<std::uint32_t>(word_ * 64 + static_cast<std::size_t>(bit)));
            ++taken;
        }
        return taken;
    }

  private:
    bool next_word() noexcept;

    std::size_t word_count_;
    std::size_t summary_count_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> summary_;
    // The consumer's place in its pass: bits taken from the table and not yet shown.
    std::uint64_t bits_ = 0;
    std::size_t word_ = 0;
    std::uint64_t summary_bits_ = 0;
    std::size_t summary_at_ = 0;
    std::size_t next_summary_ = 0;
};

}  // namespace tagferry::gateway
