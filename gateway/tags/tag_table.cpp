#include "gateway/tags/tag_table.hpp"

#include "gateway/tags/tag_record.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <utility>

namespace tagferry::gateway {
namespace {

/// Tries before a reader lets the writer, which was stopped in its middle, have the processor.
constexpr int tries_before_yield = 64;

void copy_words(std::uint32_t* words, std::size_t offset, std::span<std::byte> into) noexcept {
    if (into.empty()) {
        return;
    }
    std::size_t done = 0;
    std::uint32_t* from = words + offset / sizeof(std::uint32_t);
    if (const std::size_t inside = offset % sizeof(std::uint32_t); inside != 0) {
        const std::uint32_t word = record::load(from++);
        done = std::min(sizeof word - inside, into.size());
        std::memcpy(into.data(), reinterpret_cast<const std::byte*>(&word) + inside, done);
    }
    for (; into.size() - done >= sizeof(std::uint32_t); done += sizeof(std::uint32_t)) {
        const std::uint32_t word = record::load(from++);
        std::memcpy(into.data() + done, &word, sizeof word);
    }
    if (done < into.size()) {
        const std::uint32_t word = record::load(from);
        std::memcpy(into.data() + done, &word, into.size() - done);
    }
}

std::size_t slot_words(std::size_t size, bool large, bool substitute) noexcept {
    if (large) {
        return record::large_buffers + large_value_buffers * record::words_of(size);
    }
    return record::words_of(size) * (substitute ? 2 : 1);
}

std::uint32_t shape_of(const value_type& type, std::size_t size, bool large,
                       bool substitute) noexcept {
    const bool number =
        !type.is_array() && !substitute && size <= 8 && type.element != data_type::string &&
        type.element != data_type::byte_string && type.element != data_type::structure;
    return (large ? record::shape_large : 0U) | (substitute ? record::shape_substitute : 0U) |
           (number ? record::shape_number : 0U) |
           static_cast<std::uint32_t>(type.element) << record::shape_type_shift;
}

}  // namespace

/// Where a value lies, as read from a record that may be changing meanwhile.
struct tag_table::location {
    std::uint32_t* slot = nullptr;
    std::size_t size = 0;
    std::uint32_t shape = 0;
    bool substitute = false;
};

value_reference::value_reference(value_reference&& other) noexcept
    : holders_(std::exchange(other.holders_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}

value_reference& value_reference::operator=(value_reference&& other) noexcept {
    if (this != &other) {
        reset();
        holders_ = std::exchange(other.holders_, nullptr);
        bytes_ = std::exchange(other.bytes_, {});
    }
    return *this;
}

void value_reference::reset() noexcept {
    if (holders_ != nullptr) {
        std::atomic_ref<std::uint32_t>(*holders_).fetch_sub(1, std::memory_order_release);
        holders_ = nullptr;
        bytes_ = {};
    }
}

tag_table::tag_table(const tag_table_limits& limits)
    : limits_(limits),
      records_(limits.tags * record::bytes),
      values_(limits.value_bytes),
      page_owners_(limits.tags / page_tags),
      owners_(std::make_unique<owner_record[]>(limits.owners)) {}

std::uint32_t* tag_table::record_words(std::uint32_t index) const noexcept {
    return reinterpret_cast<std::uint32_t*>(records_.data() + index * record::bytes);
}

std::uint32_t* tag_table::value_words(std::uint32_t offset) const noexcept {
    return reinterpret_cast<std::uint32_t*>(values_.data()) + offset;
}

bool tag_table::in_range(std::uint32_t index) const noexcept {
    return (std::size_t{index} + 1) * record::bytes <= records_.committed();
}

std::optional<std::size_t> tag_table::add_feed(tag_feed& feed) {
    if (feed_count_ == max_feeds) {
        return std::nullopt;
    }
    feeds_[feed_count_] = &feed;
    return feed_count_++;
}

std::optional<tag_table::owner_id> tag_table::add_owner() {
    for (owner_id id = 0; id < limits_.owners; ++id) {
        if (!owners_[id].taken) {
            owners_[id].taken = true;
            return id;
        }
    }
    return std::nullopt;
}

void tag_table::remove_owner(owner_id owner) {
    owner_record& leaving = owners_[owner];
    free_pages_.insert(free_pages_.end(), leaving.pages.begin(), leaving.pages.end());
    leaving.pages.clear();
    leaving.free_indexes.clear();
    leaving.taken = false;
}

bool tag_table::add_page(owner_record& owner, owner_id id) {
    std::uint32_t page = 0;
    if (!free_pages_.empty()) {
        page = free_pages_.back();
        free_pages_.pop_back();
    } else if (pages_used_ < page_owners_.size() &&
               records_.commit((std::size_t{pages_used_} + 1) * page_tags * record::bytes)) {
        page = pages_used_++;
    } else {
        return false;
    }
    page_owners_[page] = id;
    owner.pages.push_back(page);
    for (std::uint32_t i = page_tags; i > 0; --i) {
        owner.free_indexes.push_back(page * static_cast<std::uint32_t>(page_tags) + i - 1);
    }
    return true;
}

std::optional<std::uint32_t> tag_table::take_slot(std::size_t words) {
    std::vector<std::uint32_t>& free = free_slots_[words];
    for (std::size_t i = free.size(); i > 0; --i) {
        const std::uint32_t offset = free[i - 1];
        // Large slots keep their layout for ever; one whose buffers somebody still holds waits.
        const bool large = words > 2 * record::words_of(large_value_bytes);
        const auto held = [&](std::size_t buffer) {
            return record::load(value_words(offset) + record::large_holders + buffer) != 0;
        };
        bool busy = false;
        for (std::size_t buffer = 0; large && buffer < large_value_buffers; ++buffer) {
            busy = busy || held(buffer);
        }
        if (!busy) {
            free.erase(free.begin() + static_cast<std::ptrdiff_t>(i - 1));
            return offset;
        }
    }
    if (!values_.commit((value_words_used_ + words) * sizeof(std::uint32_t))) {
        return std::nullopt;
    }
    const auto offset = static_cast<std::uint32_t>(value_words_used_);
    value_words_used_ += words;
    return offset;
}

std::optional<tag_handle> tag_table::add(owner_id owner, const value_type& type) {
    const std::size_t size = tagferry::gateway::value_size(type);
    owner_record& owned = owners_[owner];
    if (size == 0 || size > limits_.largest_value_bytes || !owned.taken ||
        (owned.free_indexes.empty() && !add_page(owned, owner))) {
        return std::nullopt;
    }
    const bool large = size > large_value_bytes;
    const bool substitute = may_need_substitute(type);
    const auto offset = take_slot(slot_words(size, large, substitute));
    if (!offset) {
        return std::nullopt;
    }
    const std::uint32_t index = owned.free_indexes.back();
    owned.free_indexes.pop_back();
    std::uint32_t* const words = record_words(index);
    const std::uint32_t before = record::load(words + record::sequence);
    // Odd generations are live, even ones free, so that 0 never names a tag.
    const std::uint32_t generation = record::load(words + record::generation) + 1;
    record::store(words + record::sequence, before + 1);
    record::store(words + record::status,
                  static_cast<std::uint32_t>(describe(reason_id::never_read).status));
    record::store(words + record::reason, static_cast<std::uint32_t>(reason_id::never_read));
    record::store(words + record::flags, 0);
    record::store(words + record::interests, 0);
    record::store(words + record::value_offset, *offset);
    record::store(words + record::value_bytes, static_cast<std::uint32_t>(size));
    record::store64(words + record::source_low, 0);
    record::store64(words + record::update_low, 0);
    record::store64(words + record::good_low, 0);
    record::store(words + record::shape, shape_of(type, size, large, substitute));
    if (large) {
        record::store(value_words(*offset) + record::large_good, 0);
        record::store(value_words(*offset) + record::large_substitute, 0);
    }
    record::store(words + record::generation, generation);
    record::store(words + record::sequence, before + 2);
    owned.counts[static_cast<std::size_t>(quality::bad)].fetch_add(1, std::memory_order_relaxed);
    size_.fetch_add(1, std::memory_order_relaxed);
    return tag_handle{index, generation};
}

bool tag_table::remove(tag_handle handle) {
    if (!contains(handle)) {
        return false;
    }
    std::uint32_t* const words = record_words(handle.index);
    const std::uint32_t before = record::load(words + record::sequence);
    record::store(words + record::sequence, before + 1);
    record::store(words + record::generation, handle.generation + 1);
    record::store(words + record::flags, 0);
    record::store(words + record::sequence, before + 2, std::memory_order_seq_cst);
    const std::uint32_t interests =
        std::atomic_ref<std::uint32_t>(words[record::interests]).exchange(0);
    for (std::size_t feed = 0; feed < feed_count_; ++feed) {
        if ((interests & (0x01010101U << feed)) != 0) {
            feeds_[feed]->note_changed(handle.index);
        }
    }
    const std::uint32_t offset = record::load(words + record::value_offset);
    const std::uint32_t shape = record::load(words + record::shape);
    const bool large = (shape & record::shape_large) != 0;
    if (large) {
        std::uint32_t* const slot = value_words(offset);
        for (const std::size_t current : {record::large_good, record::large_substitute}) {
            if (const std::uint32_t number = record::load(slot + current); number != 0) {
                std::atomic_ref<std::uint32_t>(slot[record::large_holders + number - 1])
                    .fetch_sub(1, std::memory_order_acq_rel);
            }
        }
    }
    const std::size_t size = record::load(words + record::value_bytes);
    free_slots_[slot_words(size, large, (shape & record::shape_substitute) != 0)].push_back(offset);
    owner_record& owned = owners_[page_owners_[handle.index / page_tags]];
    owned.free_indexes.push_back(handle.index);
    const auto status = static_cast<status_code>(record::load(words + record::status));
    owned.counts[static_cast<std::size_t>(quality_of(status))].fetch_sub(1,
                                                                         std::memory_order_relaxed);
    size_.fetch_sub(1, std::memory_order_relaxed);
    return true;
}

std::size_t tag_table::count(owner_id owner, quality value) const noexcept {
    return owners_[owner].counts[static_cast<std::size_t>(value)].load(std::memory_order_relaxed);
}

bool tag_table::contains(tag_handle handle) const noexcept {
    return (handle.generation & 1U) != 0 && in_range(handle.index) &&
           record::load(record_words(handle.index) + record::generation) == handle.generation;
}

std::size_t tag_table::value_size(tag_handle handle) const noexcept {
    if (!contains(handle)) {
        return 0;
    }
    const std::size_t size = record::load(record_words(handle.index) + record::value_bytes);
    return contains(handle) ? size : 0;
}

static_assert(std::endian::native == std::endian::little, "words hold the bytes of a value");

bool tag_table::read_number(tag_handle handle, number_sample& out) const noexcept {
    if ((handle.generation & 1U) == 0 || !in_range(handle.index)) {
        return false;
    }
    std::uint32_t* const words = record_words(handle.index);
    const std::uint32_t before = record::load(words + record::sequence, std::memory_order_seq_cst);
    const std::uint32_t shape = record::load(words + record::shape);
    const std::uint32_t offset = record::load(words + record::value_offset);
    if ((before & 1U) != 0 || (shape & record::shape_number) == 0 ||
        record::load(words + record::generation) != handle.generation ||
        (std::size_t{offset} + 2) * sizeof(std::uint32_t) > values_.committed()) {
        return false;
    }
    out.size = record::load(words + record::value_bytes);
    out.type = static_cast<data_type>(shape >> record::shape_type_shift);
    out.status = static_cast<status_code>(record::load(words + record::status));
    out.source_time = record::load64(words + record::source_low);
    out.update_time = record::load64(words + record::update_low);
    out.has_value = quality_of(out.status) != quality::bad &&
                    (record::load(words + record::flags) & record::flag_has_good) != 0;
    out.bits = 0;
    if (out.has_value) {
        std::uint32_t* const value = value_words(offset);
        out.bits = record::load(value);
        if (out.size > sizeof(std::uint32_t)) {
            out.bits |= std::uint64_t{record::load(value + 1)} << 32U;
        }
    }
    return record::load(words + record::sequence) == before;
}

read_result tag_table::read(tag_handle handle, std::span<std::byte> into, sample& out,
                            value_choice choice) const noexcept {
    return read_with(handle, choice, 0, into, true, out, nullptr);
}

read_result tag_table::read_part(tag_handle handle, std::size_t offset, std::span<std::byte> into,
                                 sample& out, value_choice choice) const noexcept {
    return read_with(handle, choice, offset, into, false, out, nullptr);
}

read_result tag_table::read_large(tag_handle handle, sample& out, value_reference& out_value,
                                  value_choice choice) const noexcept {
    out_value.reset();
    return read_with(handle, choice, 0, {}, false, out, &out_value);
}

bool tag_table::copy_value(const location& from, std::size_t offset, std::span<std::byte> into,
                           value_reference& reference) const noexcept {
    const std::size_t words = record::words_of(from.size);
    const bool large = (from.shape & record::shape_large) != 0;
    const std::size_t slot = slot_words(from.size, large, from.substitute);
    const auto position = reinterpret_cast<std::byte*>(from.slot) - values_.data();
    // Offset and size may be of two different tags; then the sequence number has moved, but the
    // copy must stay inside until that is seen.
    if (static_cast<std::size_t>(position) + slot * sizeof(std::uint32_t) > values_.committed()) {
        return false;
    }
    if (!large) {
        copy_words(from.slot + (from.substitute ? words : 0), offset, into);
        return true;
    }
    const std::uint32_t number =
        record::load(from.slot + (from.substitute ? record::large_substitute : record::large_good));
    if (number == 0 || number > large_value_buffers) {
        return false;
    }
    std::uint32_t* const holders = from.slot + record::large_holders + number - 1;
    const std::atomic_ref<std::uint32_t> count(*holders);
    std::uint32_t present = count.load(std::memory_order_relaxed);
    do {
        if (present == 0) {
            return false;
        }
    } while (!count.compare_exchange_weak(present, present + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    reference.reset();
    reference.holders_ = holders;
    reference.bytes_ = {reinterpret_cast<const std::byte*>(from.slot + record::large_buffers +
                                                           (number - 1) * words),
                        from.size};
    return true;
}

read_result tag_table::read_with(tag_handle handle, value_choice choice, std::size_t offset,
                                 std::span<std::byte> into, bool whole, sample& out,
                                 value_reference* reference) const noexcept {
    if ((handle.generation & 1U) == 0 || !in_range(handle.index)) {
        return read_result::stale;
    }
    std::uint32_t* const words = record_words(handle.index);
    for (int tries = 0;; ++tries) {
        if (tries == tries_before_yield) {
            std::this_thread::yield();
            tries = 0;
        }
        const std::uint32_t before =
            record::load(words + record::sequence, std::memory_order_seq_cst);
        if ((before & 1U) != 0) {
            continue;
        }
        if (record::load(words + record::generation) != handle.generation) {
            return read_result::stale;
        }
        const std::uint32_t flags = record::load(words + record::flags);
        location from;
        from.slot = value_words(record::load(words + record::value_offset));
        from.size = record::load(words + record::value_bytes);
        from.shape = record::load(words + record::shape);
        from.substitute = choice == value_choice::current && (flags & record::flag_substitute) != 0;
        sample seen;
        seen.status = static_cast<status_code>(record::load(words + record::status));
        seen.reason = static_cast<reason_id>(record::load(words + record::reason));
        seen.source_time = record::load64(words + record::source_low);
        seen.update_time = record::load64(words + record::update_low);
        seen.has_last_good = (flags & record::flag_has_good) != 0;
        seen.last_good_time = record::load64(words + record::good_low);
        seen.has_value = choice == value_choice::last_good
                             ? seen.has_last_good
                             : quality_of(seen.status) != quality::bad &&
                                   (flags & (record::flag_has_good | record::flag_substitute)) != 0;
        seen.value_size = seen.has_value ? from.size : 0;
        const bool large = (from.shape & record::shape_large) != 0;
        const bool fits = whole ? from.size <= into.size()
                                : offset <= from.size && into.size() <= from.size - offset;
        value_reference held;
        if (seen.has_value && (reference == nullptr ? fits : large)) {
            const std::span<std::byte> part = whole ? into.first(from.size) : into;
            if (!copy_value(from, offset, part, held)) {
                continue;
            }
        }
        if (record::load(words + record::sequence) != before) {
            continue;
        }
        out = seen;
        if (reference != nullptr) {
            *reference = std::move(held);
            return read_result::done;
        }
        if (seen.has_value && !fits) {
            return read_result::too_small;
        }
        if (held.holders_ != nullptr && !into.empty()) {
            const std::size_t count = whole ? from.size : into.size();
            std::memcpy(into.data(), held.bytes().data() + offset, count);
        }
        return read_result::done;
    }
}

bool tag_table::watch(tag_handle handle, std::size_t feed, interest kind) noexcept {
    if (feed >= feed_count_ || !contains(handle)) {
        return false;
    }
    std::uint32_t* const words = record_words(handle.index);
    // Sequentially consistent with the writer's last store and its look at this word: either the
    // writer sees the interest, or whoever reads after this sees what the writer stored.
    std::atomic_ref<std::uint32_t>(words[record::interests])
        .fetch_or(record::interest_bit(feed, kind), std::memory_order_seq_cst);
    return contains(handle);
}

void tag_table::unwatch(tag_handle handle, std::size_t feed, interest kind) noexcept {
    if (feed < feed_count_ && contains(handle)) {
        std::atomic_ref<std::uint32_t>(record_words(handle.index)[record::interests])
            .fetch_and(~record::interest_bit(feed, kind), std::memory_order_acq_rel);
    }
}

}  // namespace tagferry::gateway
