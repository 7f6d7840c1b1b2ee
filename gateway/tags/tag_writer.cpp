#include "gateway/tags/tag_writer.hpp"

#include "gateway/tags/tag_record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tagferry::gateway {
namespace {

/// Writes the value into the words of a slot, one word at a time.
void store_value(std::uint32_t* words, std::span<const std::byte> value) noexcept {
    std::size_t at = 0;
    for (; value.size() - at >= sizeof(std::uint32_t); at += sizeof(std::uint32_t)) {
        std::uint32_t word = 0;
        std::memcpy(&word, value.data() + at, sizeof word);
        record::store(words++, word);
    }
    if (at < value.size()) {
        std::uint32_t word = 0;
        std::memcpy(&word, value.data() + at, value.size() - at);
        record::store(words, word);
    }
}

/// The writer is alone in writing, so its own look at the slot is a plain read.
bool same_value(const std::uint32_t* words, std::span<const std::byte> value) noexcept {
    // Most tags are of this size, and a call would cost more than the comparison.
    if (value.size() == sizeof(std::uint32_t)) {
        return std::memcmp(words, value.data(), sizeof(std::uint32_t)) == 0;
    }
    return std::memcmp(words, value.data(), value.size()) == 0;
}

std::span<const std::byte> bytes_of(const void* words, std::size_t size) noexcept {
    return {static_cast<const std::byte*>(words), size};
}

/// Publishes a good number after a good one. @return whether the value differs from it.
bool store_number(std::uint32_t* words, std::uint32_t* slots, std::uint64_t bits,
                  transport::wall_time_ns source_time, transport::wall_time_ns now) noexcept {
    std::uint32_t* const slot = slots + record::load(words + record::value_offset);
    const bool is_wide = record::load(words + record::value_bytes) > sizeof(std::uint32_t);
    const auto low = static_cast<std::uint32_t>(bits);
    const auto high = static_cast<std::uint32_t>(bits >> 32U);
    const bool differs = record::load(slot) != low || (is_wide && record::load(slot + 1) != high);
    const std::uint32_t before = record::load(words + record::sequence);
    record::store(words + record::sequence, before + 1);
    if (differs) {
        record::store(slot, low);
        if (is_wide) {
            record::store(slot + 1, high);
        }
    }
    record::store64(words + record::update_low, now);
    record::store64(words + record::source_low, source_time);
    record::store64(words + record::good_low, source_time);
    record::store(words + record::sequence, before + 2);
    return differs;
}

bool shows_value(status_code status, std::uint32_t flags) noexcept {
    return quality_of(status) != quality::bad &&
           (flags & (record::flag_has_good | record::flag_substitute)) != 0;
}

}  // namespace

bool tag_writer::has_value(tag_handle handle) const noexcept {
    return table_->contains(handle) &&
           (record::load(table_->record_words(handle.index) + record::flags) &
            (record::flag_has_good | record::flag_substitute)) != 0;
}

bool tag_writer::publish(tag_handle handle, status_code status, reason_id reason,
                         transport::wall_time_ns source_time, transport::wall_time_ns now,
                         std::span<const std::byte> value) noexcept {
    if (!table_->contains(handle)) {
        return false;
    }
    std::uint32_t* const words = table_->record_words(handle.index);
    const bool substitute = quality_of(status) != quality::good;
    const std::uint32_t shape = record::load(words + record::shape);
    if (value.size() != record::load(words + record::value_bytes) ||
        quality_of(status) == quality::bad ||
        (substitute && (shape & record::shape_substitute) == 0)) {
        return false;
    }
    change what;
    what.status = status;
    what.reason = reason;
    what.source_time = source_time;
    what.now = now;
    what.is_good_value = !substitute;
    const std::uint32_t flags = record::load(words + record::flags);
    const auto old_status = static_cast<status_code>(record::load(words + record::status));
    what.flags = substitute ? (flags | record::flag_substitute) : record::flag_has_good;
    if (status == status_code::good && reason == reason_id::none &&
        (shape & record::shape_number) != 0) {
        what.flags |= record::flag_settled;
    }
    what.changed = old_status != status || !shows_value(old_status, flags) ||
                   (flags & record::flag_substitute) != (what.flags & record::flag_substitute);
    const bool stored = (shape & record::shape_large) != 0 ? publish_large(words, what, value)
                                                           : publish_small(words, what, value);
    if (stored) {
        count_quality(old_status, status);
        tell(handle, words, what, value);
    }
    return stored;
}

void tag_writer::publish_numbers(std::span<const number_value> values,
                                 transport::wall_time_ns source_time,
                                 transport::wall_time_ns now) noexcept {
    while (!values.empty()) {
        const std::size_t count = std::min(values.size(), numbers_at_once);
        publish_some_numbers(values.first(count), source_time, now);
        values = values.subspan(count);
    }
}

void tag_writer::publish_some_numbers(std::span<const number_value> values,
                                      transport::wall_time_ns source_time,
                                      transport::wall_time_ns now) noexcept {
    const std::size_t record_count = table_->records_.committed() / record::bytes;
    auto* const records = reinterpret_cast<std::uint32_t*>(table_->records_.data());
    auto* const slots = reinterpret_cast<std::uint32_t*>(table_->values_.data());
    std::array<std::uint32_t*, numbers_at_once> stored{};
    std::array<bool, numbers_at_once> changed{};
    std::size_t count = 0;
    for (const number_value* each = values.data(); each != values.data() + values.size(); ++each) {
        const auto [tag, bits] = *each;
        std::uint32_t* const words = records + std::size_t{tag.index} * record::in_all;
        if (tag.index >= record_count ||
            record::load(words + record::generation) != tag.generation ||
            (record::load(words + record::flags) & record::flag_settled) == 0) {
            publish_unsettled(*each, source_time, now);
            continue;
        }
        changed[count] = store_number(words, slots, bits, source_time, now);
        stored[count++] = words;
    }
    // What a sequentially consistent last store does for one tag, one fence does for all of these:
    // whoever begins to watch one of them either comes before the fence, and the look at the
    // interests after it sees that, or comes after it, and reads what was stored before it.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::uint32_t any_interest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        any_interest |= record::load(stored[i] + record::interests);
    }
    for (std::size_t i = 0; any_interest != 0 && i < count; ++i) {
        std::uint32_t* const words = stored[i];
        change what;
        what.status = status_code::good;
        what.now = now;
        what.changed = changed[i];
        const auto index =
            static_cast<std::uint32_t>(static_cast<std::size_t>(words - records) / record::in_all);
        tell({index, record::load(words + record::generation)}, words, what,
             bytes_of(slots + record::load(words + record::value_offset),
                      record::load(words + record::value_bytes)));
    }
}

void tag_writer::publish_unsettled(const number_value& value, transport::wall_time_ns source_time,
                                   transport::wall_time_ns now) noexcept {
    if (!table_->contains(value.tag)) {
        return;
    }
    std::uint32_t* const words = table_->record_words(value.tag.index);
    if ((record::load(words + record::shape) & record::shape_number) != 0) {
        publish(value.tag, status_code::good, reason_id::none, source_time, now,
                bytes_of(&value.bits, record::load(words + record::value_bytes)));
    }
}

bool tag_writer::publish_small(std::uint32_t* words, change& what,
                               std::span<const std::byte> value) noexcept {
    std::uint32_t* slot = table_->value_words(record::load(words + record::value_offset));
    slot += what.is_good_value ? 0 : record::words_of(value.size());
    const bool same = same_value(slot, value);
    what.changed = what.changed || !same;
    const std::uint32_t before = record::load(words + record::sequence);
    record::store(words + record::sequence, before + 1);
    if (!same) {
        store_value(slot, value);
    }
    write_record(words, what);
    record::store(words + record::sequence, before + 2, std::memory_order_seq_cst);
    return true;
}

bool tag_writer::publish_large(std::uint32_t* words, change& what,
                               std::span<const std::byte> value) noexcept {
    std::uint32_t* const slot = table_->value_words(record::load(words + record::value_offset));
    const std::size_t buffer_words = record::words_of(value.size());
    const auto buffer = [&](std::size_t number) {
        return slot + record::large_buffers + number * buffer_words;
    };
    const std::size_t current = what.is_good_value ? record::large_good : record::large_substitute;
    const std::uint32_t old_current = record::load(slot + current);
    const std::uint32_t old_substitute = record::load(slot + record::large_substitute);
    const bool same = old_current != 0 && same_value(buffer(old_current - 1), value);
    std::uint32_t chosen = old_current;
    if (!same) {
        chosen = 0;
        for (std::uint32_t number = 1; chosen == 0 && number <= large_value_buffers; ++number) {
            if (record::load(slot + record::large_holders + number - 1) == 0) {
                chosen = number;
            }
        }
        if (chosen == 0) {
            refused_large_values_.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        // Nobody else can reach a buffer that has no holder, so this is a plain copy; storing the
        // table's own hold publishes it to whoever takes another.
        std::memcpy(buffer(chosen - 1), value.data(), value.size());
        record::store(slot + record::large_holders + chosen - 1, 1);
    }
    what.changed = what.changed || !same;
    const std::uint32_t before = record::load(words + record::sequence);
    record::store(words + record::sequence, before + 1);
    record::store(slot + current, chosen);
    if (what.is_good_value) {
        record::store(slot + record::large_substitute, 0);
    }
    write_record(words, what);
    record::store(words + record::sequence, before + 2, std::memory_order_seq_cst);
    const auto let_go = [&](std::uint32_t number) {
        std::atomic_ref<std::uint32_t>(slot[record::large_holders + number - 1])
            .fetch_sub(1, std::memory_order_release);
    };
    if (!same && old_current != 0) {
        let_go(old_current);
    }
    if (what.is_good_value && old_substitute != 0) {
        let_go(old_substitute);
    }
    return true;
}

bool tag_writer::publish_status(tag_handle handle, reason_id reason,
                                std::optional<transport::wall_time_ns> source_time,
                                transport::wall_time_ns now) noexcept {
    return publish_status(handle, describe(reason).status, reason, source_time, now);
}

bool tag_writer::publish_status(tag_handle handle, status_code status, reason_id reason,
                                std::optional<transport::wall_time_ns> source_time,
                                transport::wall_time_ns now) noexcept {
    if (!table_->contains(handle) || quality_of(status) == quality::good) {
        return false;
    }
    std::uint32_t* const words = table_->record_words(handle.index);
    const auto old_status = static_cast<status_code>(record::load(words + record::status));
    change what;
    what.status = status;
    what.reason = reason;
    what.flags = record::load(words + record::flags) & ~record::flag_settled;
    what.source_time = source_time;
    what.now = now;
    what.changed = old_status != status;
    const std::uint32_t before = record::load(words + record::sequence);
    record::store(words + record::sequence, before + 1);
    write_record(words, what);
    record::store(words + record::sequence, before + 2, std::memory_order_seq_cst);
    count_quality(old_status, status);

    std::span<const std::byte> value;
    if (shows_value(status, what.flags)) {
        const std::size_t size = record::load(words + record::value_bytes);
        std::uint32_t* const slot = table_->value_words(record::load(words + record::value_offset));
        const bool substitute = (what.flags & record::flag_substitute) != 0;
        if ((record::load(words + record::shape) & record::shape_large) != 0) {
            const std::size_t number =
                record::load(slot + (substitute ? record::large_substitute : record::large_good));
            value = bytes_of(slot + record::large_buffers + (number - 1) * record::words_of(size),
                             size);
        } else {
            value = bytes_of(slot + (substitute ? record::words_of(size) : 0), size);
        }
    }
    tell(handle, words, what, value);
    return true;
}

void tag_writer::write_record(std::uint32_t* words, const change& what) noexcept {
    record::store(words + record::status, static_cast<std::uint32_t>(what.status));
    record::store(words + record::reason, static_cast<std::uint32_t>(what.reason));
    record::store(words + record::flags, what.flags);
    record::store64(words + record::update_low, what.now);
    if (what.source_time) {
        record::store64(words + record::source_low, *what.source_time);
        if (what.is_good_value) {
            record::store64(words + record::good_low, *what.source_time);
        }
    }
}

void tag_writer::count_quality(status_code before, status_code after) noexcept {
    const quality old_quality = quality_of(before);
    const quality new_quality = quality_of(after);
    if (old_quality != new_quality) {
        auto& counts = table_->owners_[owner_].counts;
        counts[static_cast<std::size_t>(old_quality)].fetch_sub(1, std::memory_order_relaxed);
        counts[static_cast<std::size_t>(new_quality)].fetch_add(1, std::memory_order_relaxed);
    }
}

void tag_writer::tell(tag_handle handle, std::uint32_t* words, const change& what,
                      std::span<const std::byte> value) noexcept {
    const std::uint32_t interests =
        record::load(words + record::interests, std::memory_order_seq_cst);
    if (interests == 0) {
        return;
    }
    const auto feeds_for = [&](interest kind) {
        return (interests >> (8 * static_cast<std::size_t>(kind))) & 0xFFU;
    };
    const auto each = [&](std::uint32_t feeds, auto&& act) {
        for (; feeds != 0; feeds &= feeds - 1) {
            act(*table_->feeds_[static_cast<std::size_t>(std::countr_zero(feeds))]);
        }
    };
    each(feeds_for(interest::updates), [&](tag_feed& feed) { feed.note_updated(handle.index); });
    if (what.changed) {
        each(feeds_for(interest::changes),
             [&](tag_feed& feed) { feed.note_changed(handle.index); });
    }
    const std::uint32_t queues = feeds_for(interest::queued_samples) |
                                 (what.changed ? feeds_for(interest::queued_changes) : 0);
    if (queues == 0) {
        return;
    }
    queued_sample queued;
    queued.handle = handle;
    queued.status = what.status;
    queued.reason = what.reason;
    queued.changed = what.changed;
    queued.source_time = record::load64(words + record::source_low);
    queued.update_time = what.now;
    queued.value = value;
    each(queues, [&](tag_feed& feed) { feed.queue(thread_number_, queued); });
}

}  // namespace tagferry::gateway
