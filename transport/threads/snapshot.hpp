// Something that is read on every turn and replaced now and then, a configuration: readers on
// shards hold a plain pointer, take over what is new at the beginning of a turn, and the old one
// is destroyed on the control thread when no shard can see it any more.
#pragma once

#include "transport/threads/shard.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tagferry::transport {

template <class T>
class snapshot_reader;

/// The publisher's side. All calls from one control thread, which may be any, also a shard's;
/// `set_acknowledged_hook` says when it is worth calling `collect`. Outlives its readers.
template <class T>
class snapshot_hub {
  public:
    snapshot_hub() = default;
    /// There must be no reader left; what is left is destroyed here.
    ~snapshot_hub() = default;
    snapshot_hub(const snapshot_hub&) = delete;
    snapshot_hub& operator=(const snapshot_hub&) = delete;

    /// Makes `next` what readers take over at the beginning of their next turn; the first one is
    /// the start-up. Destroys what no reader can see any more.
    /// @param next not null. @return its generation, from 1 up.
    std::uint64_t publish(std::unique_ptr<const T> next) {
        std::uint64_t generation = 0;
        {
            const std::lock_guard lock(mutex_);
            if (latest_) {
                retired_.push_back({std::move(latest_), generation_});
            }
            latest_ = std::move(next);
            generation = ++generation_;
            for (snapshot_reader<T>* const reader : readers_) {
                reader->owner_.announce();
            }
        }
        collect();
        return generation;
    }

    /// Destroys every snapshot that no reader can see any more. @return how many are still seen.
    std::size_t collect() {
        std::vector<retired> unseen;  // destroyed after the lock is given back
        const std::lock_guard lock(mutex_);
        const std::uint64_t oldest = oldest_in_use();
        const auto first_seen =
            std::find_if(retired_.begin(), retired_.end(),
                         [&](const retired& each) { return each.generation >= oldest; });
        unseen.assign(std::make_move_iterator(retired_.begin()),
                      std::make_move_iterator(first_seen));
        retired_.erase(retired_.begin(), first_seen);
        return retired_.size();
    }

    /// Waits until every reader has taken over the latest snapshot. Not on a thread that a reader
    /// lives on. @return false when `longest` passed first.
    bool wait_until_taken_over(duration longest) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, longest, [&] { return oldest_in_use() == generation_; });
    }

    /// A task to be run on a reader's thread each time it has taken over, for telling the control
    /// thread to collect. Before the first reader is made.
    void set_acknowledged_hook(const task& hook) noexcept { acknowledged_ = hook; }

  private:
    friend class snapshot_reader<T>;
    struct retired {
        std::unique_ptr<const T> value;
        std::uint64_t generation;
    };

    /// A reader that has not taken over anything yet holds everything: it may be about to.
    std::uint64_t oldest_in_use() const noexcept {
        std::uint64_t oldest = generation_;
        for (const snapshot_reader<T>* const reader : readers_) {
            oldest = std::min(oldest, reader->acknowledged_);
        }
        return oldest;
    }

    std::mutex mutex_;  // of everything below; taken only around a change
    std::condition_variable changed_;
    std::unique_ptr<const T> latest_;
    std::uint64_t generation_ = 0;
    std::vector<retired> retired_;  // oldest first
    std::vector<snapshot_reader<T>*> readers_;
    task acknowledged_{};
};

/// The reader's side: one for each shard and thing read. Made before the shard starts or on its
/// thread, destroyed on its thread or after it was joined; the hub and the shard outlive it.
template <class T>
class snapshot_reader final : public turn_start_listener {
  public:
    /// Called at the beginning of the turn in which `current` takes the place of `previous`, which
    /// is null the first time. Both may be looked at; `previous` must be forgotten on return.
    using change_hook = void (*)(void* object, const T* previous, const T& current) noexcept;

    snapshot_reader(snapshot_hub<T>& hub, shard& owner, change_hook changed = nullptr,
                    void* object = nullptr)
        : hub_(hub), owner_(owner), changed_(changed), object_(object) {
        {
            const std::lock_guard lock(hub_.mutex_);
            hub_.readers_.push_back(this);
        }
        owner_.add(*this);
        owner_.announce();
    }
    ~snapshot_reader() {
        const std::lock_guard lock(hub_.mutex_);
        std::erase(hub_.readers_, this);
        hub_.changed_.notify_all();
    }
    snapshot_reader(const snapshot_reader&) = delete;
    snapshot_reader& operator=(const snapshot_reader&) = delete;

    /// What was taken over last; null before the first. Valid until the end of the turn.
    const T* get() const noexcept { return current_; }
    /// Its generation, 0 before the first. Never falls.
    std::uint64_t generation() const noexcept { return generation_; }

    void turn_starts() noexcept override {
        const T* next = nullptr;
        std::uint64_t generation = 0;
        {
            const std::lock_guard lock(hub_.mutex_);
            next = hub_.latest_.get();
            generation = hub_.generation_;
        }
        // Published again in the meantime, `next` is retired but stays: this reader has not yet
        // acknowledged anything newer.
        if (generation == generation_) {
            return;
        }
        if (changed_ != nullptr) {
            changed_(object_, current_, *next);
        }
        current_ = next;
        generation_ = generation;
        {
            const std::lock_guard lock(hub_.mutex_);
            acknowledged_ = generation;
            hub_.changed_.notify_all();
        }
        if (hub_.acknowledged_.run != nullptr) {
            hub_.acknowledged_.run(hub_.acknowledged_.object, hub_.acknowledged_.a,
                                   hub_.acknowledged_.b);
        }
    }

  private:
    friend class snapshot_hub<T>;

    snapshot_hub<T>& hub_;
    shard& owner_;
    change_hook changed_;
    void* object_;
    const T* current_ = nullptr;
    std::uint64_t generation_ = 0;
    std::uint64_t acknowledged_ = 0;  // of the hub's mutex
};

}  // namespace tagferry::transport
